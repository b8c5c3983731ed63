#include "engine/bm25/phrase_rows.h"

#include <algorithm>

namespace footnote::bm25 {
namespace {

/// Walks the list of one phrase part row by row.
class PartCursor {
 public:
  explicit PartCursor(const PhrasePart& part) : cursor_(part.list), offset_(part.offset) {}

  bool find(std::uint32_t row) { return cursor_.count_at(row) >= 0; }

  /// The positions at which the phrase would begin in this row. REQUIRES: find(row) returned true.
  void begins(std::uint32_t row, std::vector<std::uint32_t>& out) {
    const Block& block = cursor_.decoded();
    const std::size_t at = cursor_.seek(row);
    if (cursor_.block() != walked_block_ || walked_ > at) {
      walked_block_ = cursor_.block();
      walked_ = 0;
      rest_ = cursor_.list().positions(walked_block_);
    }
    for (; walked_ < at; ++walked_) rest_ = rest_.subspan(positions_size(rest_, block.counts[walked_] + 1U));
    decode_positions(rest_, block.counts[at] + 1U, out);
    std::erase_if(out, [&](std::uint32_t position) { return position < offset_; });
    for (std::uint32_t& position : out) position -= offset_;
  }

 private:
  ListCursor cursor_;
  std::uint32_t offset_;
  // Positions are read sequentially: those of the rows before walked_ in its block are already consumed.
  std::size_t walked_block_ = static_cast<std::size_t>(-1);
  std::size_t walked_ = 0;
  std::span<const std::uint8_t> rest_;
};

}  // namespace

void mark_phrase_rows(std::span<const PhrasePart> parts, std::vector<std::uint8_t>& out) {
  std::vector<PartCursor> cursors(parts.begin(), parts.end());
  const auto rarest = std::ranges::min_element(parts, {}, [](const PhrasePart& part) { return part.list.size(); });
  Block block;
  std::vector<std::uint32_t> common, begins, both;
  for (std::size_t b = 0; b < rarest->list.block_count(); ++b) {
    rarest->list.decode(b, block);
    for (std::size_t i = 0; i < block.size; ++i) {
      const std::uint32_t row = block.rows[i];
      if (!std::ranges::all_of(cursors, [&](PartCursor& cursor) { return cursor.find(row); })) continue;
      cursors.front().begins(row, common);
      for (std::size_t c = 1; c < cursors.size() && !common.empty(); ++c) {
        cursors[c].begins(row, begins);
        both.clear();
        std::ranges::set_intersection(common, begins, std::back_inserter(both));
        common.swap(both);
      }
      if (!common.empty()) out[row] = 1;
    }
  }
}

}  // namespace footnote::bm25
