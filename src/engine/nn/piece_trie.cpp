#include "engine/nn/piece_trie.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

namespace footnote::nn {

/// Places the sorted pieces from the root down.
class PieceTrie::Builder {
 public:
  explicit Builder(std::span<const std::string_view> pieces) : pieces_(pieces), order_(pieces.size()) {
    std::iota(order_.begin(), order_.end(), 0U);
    std::ranges::sort(order_, {}, [&](std::uint32_t id) { return std::pair(pieces_[id], id); });
    // The root's block, where no child may take the root's place, and the empty block.
    add_block();
    free_[0] = kBlock - 1;
    used_[kRoot] = true;
    add_block();
    free_[1] = 0;
    std::fill_n(used_.begin() + kEmptyBlock, kBlock, true);
  }

  std::vector<Node> build() {
    std::vector<Range> open{{kRoot, 0, order_.size(), 0}};
    while (!open.empty()) {
      const Range range = open.back();
      open.pop_back();
      place_children(range, open);
    }
    return std::move(nodes_);
  }

 private:
  static constexpr std::size_t kBlock = 256;
  // Free places are searched only in the newest blocks, which keeps the time linear; older blocks are nearly full.
  static constexpr std::size_t kOpenBlocks = 16;

  // Pieces [begin, end) of the order share their first `depth` bytes, which lead to `node`.
  struct Range {
    std::uint32_t node;
    std::size_t begin;
    std::size_t end;
    std::size_t depth;
  };

  void place_children(Range range, std::vector<Range>& open) {
    while (range.begin < range.end && pieces_[order_[range.begin]].size() == range.depth) {
      if (range.depth > 0) nodes_[range.node].set_id(order_[range.begin]);
      ++range.begin;
    }
    if (range.begin == range.end) return;
    labels_.clear();
    for (std::size_t i = range.begin; i < range.end; ++i) {
      const auto byte = static_cast<unsigned char>(pieces_[order_[i]][range.depth]);
      if (labels_.empty() || labels_.back() != byte) labels_.push_back(byte);
    }
    const std::uint32_t base = find_base();
    nodes_[range.node].base = base;
    is_base_[base] = true;
    std::size_t begin = range.begin;
    for (const unsigned char byte : labels_) {
      const std::uint32_t child = base ^ byte;
      nodes_[child].set_label(byte);
      used_[child] = true;
      --free_[child / kBlock];
      std::size_t end = begin;
      while (end < range.end && static_cast<unsigned char>(pieces_[order_[end]][range.depth]) == byte) ++end;
      open.push_back({child, begin, end, range.depth + 1});
      begin = end;
    }
  }

  std::uint32_t find_base() {
    const std::size_t blocks = free_.size();
    for (std::size_t block = blocks - std::min(blocks, kOpenBlocks); block < blocks; ++block) {
      if (free_[block] < labels_.size()) continue;
      for (std::size_t low = 0; low < kBlock; ++low) {
        const auto base = static_cast<std::uint32_t>(block * kBlock + low);
        if (is_base_[base]) continue;
        if (std::ranges::none_of(labels_, [&](unsigned char byte) { return used_[base ^ byte]; })) return base;
      }
    }
    add_block();
    return static_cast<std::uint32_t>(blocks * kBlock);
  }

  void add_block() {
    nodes_.resize(nodes_.size() + kBlock);
    used_.resize(nodes_.size());
    is_base_.resize(nodes_.size());
    free_.push_back(kBlock);
  }

  std::span<const std::string_view> pieces_;
  std::vector<std::uint32_t> order_;
  std::vector<Node> nodes_;
  std::vector<bool> used_;
  std::vector<bool> is_base_;
  std::vector<std::size_t> free_;  // Unused nodes in each block.
  std::vector<unsigned char> labels_;
};

Result<PieceTrie> PieceTrie::build(std::span<const std::string_view> pieces) {
  if (pieces.size() > kPiecesMax) return fail(ErrorCode::kCorrupted, "{} pieces; at most {} are supported", pieces.size(), kPiecesMax);
  std::size_t bytes = 0;
  for (const std::string_view piece : pieces) {
    if (piece.size() > kPieceBytesMax)
      return fail(ErrorCode::kCorrupted, "a piece of {} bytes; at most {} are supported", piece.size(), kPieceBytesMax);
    bytes += piece.size();
  }
  if (bytes > kAllBytesMax)
    return fail(ErrorCode::kCorrupted, "pieces of {} bytes in total; at most {} are supported", bytes, kAllBytesMax);
  PieceTrie out;
  out.nodes_ = Builder(pieces).build();
  return out;
}

std::uint32_t PieceTrie::find(std::string_view piece) const {
  std::uint32_t node = kRoot;
  for (const char c : piece) {
    node = step(node, static_cast<unsigned char>(c));
    if (node == kNone) return kNone;
  }
  return id_at(node);
}

}  // namespace footnote::nn
