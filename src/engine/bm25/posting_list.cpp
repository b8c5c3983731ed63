#include "engine/bm25/posting_list.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/assert.h"

namespace footnote::bm25 {
namespace {

constexpr unsigned kVarintBits = 7;
constexpr std::size_t kVarintBytesMax = 5;
constexpr std::uint8_t kMore = 0x80;

template <class T>
void append(std::vector<std::uint8_t>& out, const T& value) {
  const std::size_t at = out.size();
  out.resize(at + sizeof value);
  std::memcpy(out.data() + at, &value, sizeof value);
}

void append_varint(std::vector<std::uint8_t>& out, std::uint32_t value) {
  for (; value >= kMore; value >>= kVarintBits) out.push_back(static_cast<std::uint8_t>(value | kMore));
  out.push_back(static_cast<std::uint8_t>(value));
}

/// REQUIRES: a complete varint at `at`.
std::uint32_t read_varint(std::span<const std::uint8_t> bytes, std::size_t& at) {
  std::uint32_t value = 0;
  for (unsigned shift = 0;; shift += kVarintBits) {
    const std::uint8_t byte = bytes[at++];
    value |= static_cast<std::uint32_t>(byte & (kMore - 1U)) << shift;
    if (byte < kMore) return value;
  }
}

/// The size of the varint at the front, or kNotThere.
std::size_t varint_size(std::span<const std::uint8_t> bytes) {
  for (std::size_t i = 0; i < std::min(bytes.size(), kVarintBytesMax); ++i) {
    if (bytes[i] < kMore) return i + 1;
  }
  return kNotThere;
}

/// True when the next eight varints take one byte each, as most do.
constexpr std::size_t kEight = sizeof(std::uint64_t);
bool are_eight_short(std::span<const std::uint8_t> bytes) {
  if (bytes.size() < kEight) return false;
  std::uint64_t word = 0;
  std::memcpy(&word, bytes.data(), kEight);
  return (word & 0x8080808080808080) == 0;
}

constexpr std::size_t rest_size(std::size_t rows) { return rows * (sizeof(std::uint16_t) + sizeof(std::uint8_t)); }

}  // namespace

PostingList::PostingList(std::span<const std::uint8_t> bytes) : bytes_(bytes) {
  std::size_t at = 0;
  size_ = read_varint(bytes, at);
  heads_ = bytes.data() + at;
}

std::uint16_t PostingList::last_row(std::size_t block) const {
  if (has_heads()) {
    std::uint16_t row = 0;
    std::memcpy(&row, heads_ + block * sizeof(BlockHead) + offsetof(BlockHead, last_row), sizeof row);
    return row;
  }
  std::uint16_t row = 0;
  std::memcpy(&row, heads_ + (size_ - 1) * sizeof row, sizeof row);
  return row;
}

void PostingList::decode(std::size_t block, Block& out) const {
  out.size = size_of(block);
  if (out.size == kBlockSize) {
    const BlockHead head = this->head(block);
    const std::uint8_t* const data = bytes_.data() + head.data;
    unpack_block(data, head.row_bits, out.rows);
    add_up(out.rows, block == 0 ? std::uint16_t{0} : last_row(block - 1));
    unpack_block(data + packed_size(head.row_bits), head.count_bits, out.counts);
    return;
  }
  const std::uint8_t* const data = has_heads() ? bytes_.data() + head(block).data : heads_;
  std::memcpy(out.rows.data(), data, out.size * sizeof(std::uint16_t));
  const std::uint8_t* const counts = data + out.size * sizeof(std::uint16_t);
  for (std::size_t i = 0; i < out.size; ++i) out.counts[i] = counts[i];
}

std::span<const std::uint8_t> PostingList::positions(std::size_t block) const {
  if (has_heads()) return bytes_.subspan(head(block).positions);
  return bytes_.subspan(static_cast<std::size_t>(heads_ - bytes_.data()) + rest_size(size_));
}

void ListWriter::begin_posting(std::uint32_t row, std::uint32_t count) {
  FOOTNOTE_ASSERT(row < kSegmentRowsMax && count >= 1 && count <= kCountMax);
  if (rows_.size() % kBlockSize == 0) block_begins_.push_back(static_cast<std::uint32_t>(positions_.size()));
  rows_.push_back(static_cast<std::uint16_t>(row));
  counts_.push_back(static_cast<std::uint8_t>(count - 1));
}

void ListWriter::add(std::uint32_t row, std::span<const std::uint32_t> positions) {
  positions = positions.first(std::min<std::size_t>(positions.size(), kCountMax));
  begin_posting(row, static_cast<std::uint32_t>(positions.size()));
  std::uint32_t last = 0;
  for (const std::uint32_t position : positions) {
    append_varint(positions_, position - last);
    last = position;
  }
}

void ListWriter::add_encoded(std::uint32_t row, std::uint32_t count, std::span<const std::uint8_t> positions) {
  begin_posting(row, count);
  positions_.insert(positions_.end(), positions.begin(), positions.end());
}

void ListWriter::finish(std::span<const LengthCode> lengths, std::vector<std::uint8_t>& out) {
  FOOTNOTE_ASSERT(!rows_.empty());
  const std::size_t begin = out.size();
  append_varint(out, static_cast<std::uint32_t>(rows_.size()));
  std::vector<BlockHead> heads(rows_.size() >= kBlockSize ? block_begins_.size() : 0);
  const std::size_t heads_at = out.size();
  out.resize(heads_at + heads.size() * sizeof(BlockHead));

  std::uint16_t before = 0;
  for (std::size_t block = 0; block < block_begins_.size(); ++block) {
    const std::size_t first = block * kBlockSize;
    const std::size_t size = std::min(kBlockSize, rows_.size() - first);
    const auto rows = std::span(rows_).subspan(first, size);
    const auto counts = std::span(counts_).subspan(first, size);
    BlockHead head{.data = static_cast<std::uint32_t>(out.size() - begin), .last_row = rows.back()};
    head.count_max = *std::ranges::max_element(counts);
    head.length_min = 255;
    for (const std::uint16_t row : rows) head.length_min = std::min(head.length_min, lengths[row]);
    if (size == kBlockSize) {
      BlockValues gaps;
      BlockValues wide_counts;
      std::uint16_t widest = 0;
      for (std::size_t i = 0; i < size; ++i) {
        gaps[i] = static_cast<std::uint16_t>(rows[i] - before);
        widest |= gaps[i];
        before = rows[i];
        wide_counts[i] = counts[i];
      }
      head.row_bits = static_cast<std::uint8_t>(std::bit_width(widest));
      head.count_bits = static_cast<std::uint8_t>(std::bit_width(head.count_max));
      const std::size_t at = out.size();
      out.resize(at + packed_size(head.row_bits) + packed_size(head.count_bits));
      pack_block(gaps, head.row_bits, out.data() + at);
      pack_block(wide_counts, head.count_bits, out.data() + at + packed_size(head.row_bits));
    } else {
      for (const std::uint16_t row : rows) append(out, row);
      out.insert(out.end(), counts.begin(), counts.end());
    }
    if (!heads.empty()) heads[block] = head;
  }
  for (std::size_t block = 0; block < heads.size(); ++block) {
    heads[block].positions = static_cast<std::uint32_t>(out.size() - begin) + block_begins_[block];
  }
  if (!heads.empty()) std::memcpy(out.data() + heads_at, heads.data(), heads.size() * sizeof(BlockHead));
  out.insert(out.end(), positions_.begin(), positions_.end());
  rows_.clear();
  counts_.clear();
  positions_.clear();
  block_begins_.clear();
}

std::size_t positions_size(std::span<const std::uint8_t> bytes, std::uint32_t count) {
  std::size_t at = 0;
  while (count > 0) {
    if (count >= kEight && are_eight_short(bytes.subspan(at))) {
      at += kEight;
      count -= kEight;
      continue;
    }
    --count;
    const std::size_t size = varint_size(bytes.subspan(at));
    if (size == kNotThere) return kNotThere;
    at += size;
  }
  return at;
}

void decode_positions(std::span<const std::uint8_t> bytes, std::uint32_t count, std::vector<std::uint32_t>& out) {
  out.clear();
  std::uint32_t last = 0;
  for (std::size_t at = 0; count > 0; --count) out.push_back(last += read_varint(bytes, at));
}

namespace {

/// Validates a list part by part; each check relies only on parts that passed before.
class ListCheck {
 public:
  ListCheck(std::span<const std::uint8_t> bytes, std::span<const LengthCode> lengths) : bytes_(bytes), lengths_(lengths) {}

  bool passes() {
    const std::size_t size_bytes = varint_size(bytes_);
    if (size_bytes == kNotThere) return false;
    std::size_t at = 0;
    const std::size_t size = read_varint(bytes_, at);
    if (size == 0 || size > lengths_.size()) return false;
    at += size >= kBlockSize ? (size + kBlockSize - 1) / kBlockSize * sizeof(BlockHead) : rest_size(size);
    if (at > bytes_.size()) return false;
    list_ = PostingList(bytes_);
    return list_.has_heads() ? check_places(at) && check_blocks(at) : check_rows(0) && check_end(at);
  }

 private:
  /// Checks that blocks follow each other from `at` without gaps; sets `at` to their end.
  bool check_places(std::size_t& at) const {
    for (std::size_t block = 0; block < list_.block_count(); ++block) {
      const BlockHead head = list_.head(block);
      const std::size_t rest = list_.size() - block * kBlockSize;
      if (head.data != at || head.padding != 0 || head.row_bits > kPackedBitsMax || head.count_bits > 8) return false;
      at += rest >= kBlockSize ? packed_size(head.row_bits) + packed_size(head.count_bits) : rest_size(rest);
      if (at > bytes_.size()) return false;
    }
    return true;
  }

  bool check_blocks(std::size_t at) {
    for (std::size_t block = 0; block < list_.block_count(); ++block) {
      const BlockHead head = list_.head(block);
      if (head.positions != at || !check_rows(block)) return false;
      LengthCode shortest = 255;
      std::uint16_t most = 0;
      for (std::size_t i = 0; i < block_.size; ++i) {
        shortest = std::min(shortest, lengths_[block_.rows[i]]);
        most = std::max(most, block_.counts[i]);
      }
      if (head.length_min != shortest || head.count_max != most || head.last_row != block_.rows[block_.size - 1]) return false;
      if (!pass_positions(at)) return false;
    }
    return at == bytes_.size();
  }

  bool check_end(std::size_t at) const { return pass_positions(at) && at == bytes_.size(); }

  bool pass_positions(std::size_t& at) const {
    std::uint32_t all = 0;
    for (std::size_t i = 0; i < block_.size; ++i) all += block_.counts[i] + 1U;
    const std::size_t size = positions_size(bytes_.subspan(at), all);
    if (size == kNotThere) return false;
    at += size;
    return true;
  }

  bool check_rows(std::size_t block) {
    list_.decode(block, block_);
    for (std::size_t i = 0; i < block_.size; ++i) {
      if (block_.rows[i] >= lengths_.size() || block_.counts[i] >= kCountMax) return false;
      if ((block > 0 || i > 0) && block_.rows[i] <= last_) return false;
      last_ = block_.rows[i];
    }
    return true;
  }

  std::span<const std::uint8_t> bytes_;
  std::span<const LengthCode> lengths_;
  PostingList list_;
  Block block_;
  std::uint16_t last_ = 0;
};

}  // namespace

bool check_list(std::span<const std::uint8_t> bytes, std::span<const LengthCode> lengths) { return ListCheck(bytes, lengths).passes(); }

}  // namespace footnote::bm25
