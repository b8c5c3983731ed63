#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "engine/bm25/bit_pack.h"
#include "engine/bm25/row_length.h"

namespace footnote::bm25 {

/// Row numbers in a segment are below this.
inline constexpr std::size_t kSegmentRowsMax = 65'536;
/// The largest term count stored: larger ones would not change the BM25 score noticeably, so they are capped.
inline constexpr std::uint32_t kCountMax = 255;

/// Summary of a block, which lets a search skip it.
struct BlockHead {
  std::uint32_t data = 0;       ///< Offset of its rows and counts in the list.
  std::uint32_t positions = 0;  ///< Offset of its positions.
  std::uint16_t last_row = 0;
  std::uint8_t row_bits = 0;  ///< Bits per packed gap and per packed (count - 1); 0 in the last, unpacked part.
  std::uint8_t count_bits = 0;
  std::uint8_t count_max = 0;  ///< The largest count - 1.
  LengthCode length_min = 0;   ///< The smallest length of its rows.
  std::uint16_t padding = 0;

  bool operator==(const BlockHead&) const = default;
};
static_assert(sizeof(BlockHead) == 16);

/// A decoded block.
struct Block {
  BlockValues rows;
  BlockValues counts;  ///< count - 1.
  std::size_t size = 0;
};

/// A posting list: the rows that contain a term, ascending, with the count and the positions in each. A view into a segment.
///
/// list    := size:varint head:BlockHead[blocks] block* rest positions
/// block   := gap:row_bits[128] (count - 1):count_bits[128], packed (bit_pack.h); gaps start at the last row of the previous block
/// rest    := row:u16[size % 128] (count - 1):u8[size % 128]
/// positions := for each row its positions: the first, then the distances to the next, as varints
/// The rest has a head after those of the blocks. A list shorter than a block has no heads.
class PostingList {
 public:
  PostingList() = default;
  /// REQUIRES: bytes that ListWriter wrote or check_list() accepts.
  explicit PostingList(std::span<const std::uint8_t> bytes);

  std::size_t size() const { return size_; }
  std::size_t block_count() const { return (size_ + kBlockSize - 1) / kBlockSize; }
  bool has_heads() const { return size_ >= kBlockSize; }
  /// REQUIRES: has_heads().
  BlockHead head(std::size_t block) const {
    BlockHead out;
    std::memcpy(&out, heads_ + block * sizeof out, sizeof out);
    return out;
  }
  std::uint16_t last_row(std::size_t block) const;
  void decode(std::size_t block, Block& out) const;
  /// The position bytes from that block's first row on.
  std::span<const std::uint8_t> positions(std::size_t block) const;

 private:
  std::size_t size_of(std::size_t block) const { return std::min(kBlockSize, size_ - block * kBlockSize); }

  std::span<const std::uint8_t> bytes_;
  const std::uint8_t* heads_ = nullptr;
  std::size_t size_ = 0;
};

/// Walks a list in ascending order.
class ListCursor {
 public:
  ListCursor() = default;
  explicit ListCursor(const PostingList& list) : list_(list) {}

  const PostingList& list() const { return list_; }
  bool done() const { return block_ >= list_.block_count(); }
  /// The block of the first remaining row >= `row`, or block_count().
  std::size_t block() const { return block_; }
  /// Skips the blocks that end before `row`, without decoding them.
  void skip_to(std::uint32_t row) {
    while (!done() && list_.last_row(block_) < row) next_block();
  }
  void next_block() {
    ++block_;
    at_ = 0;
  }
  /// The block at the cursor, decoded. REQUIRES: !done().
  const Block& decoded() {
    if (decoded_ != block_) {
      list_.decode(block_, buffer_);
      decoded_ = block_;
    }
    return buffer_;
  }
  /// The index in that block of the first remaining row >= `row`. REQUIRES: skip_to(row), !done().
  std::size_t seek(std::uint32_t row) {
    const Block& block = decoded();
    while (block.rows[at_] < row) ++at_;
    return at_;
  }
  /// The count - 1 of that row, or -1 if the list does not contain it. REQUIRES: rows ascend from call to call.
  int count_at(std::uint32_t row) {
    skip_to(row);
    if (done()) return -1;
    const std::size_t at = seek(row);
    return buffer_.rows[at] == row ? buffer_.counts[at] : -1;
  }

 private:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  PostingList list_;
  std::size_t block_ = 0;
  std::size_t at_ = 0;
  std::size_t decoded_ = kNone;
  Block buffer_;
};

/// Writes lists, one after the other.
class ListWriter {
 public:
  /// Adds the next row of the list. REQUIRES: at least one position, not descending. Positions beyond kCountMax are dropped.
  void add(std::uint32_t row, std::span<const std::uint32_t> positions);
  /// Adds a row copied from another list, with `count` encoded positions.
  void add_encoded(std::uint32_t row, std::uint32_t count, std::span<const std::uint8_t> positions);
  bool empty() const { return rows_.empty(); }
  /// Appends the list to `out` and starts the next one. `lengths` is indexed by row. REQUIRES: the list is not empty.
  void finish(std::span<const LengthCode> lengths, std::vector<std::uint8_t>& out);

 private:
  void begin_posting(std::uint32_t row, std::uint32_t count);

  std::vector<std::uint16_t> rows_;
  std::vector<std::uint8_t> counts_;         // count - 1.
  std::vector<std::uint8_t> positions_;      // Encoded.
  std::vector<std::uint32_t> block_begins_;  // Offsets in positions_.
};

/// The encoded size of `count` positions; kNotThere when `bytes` is too short.
inline constexpr std::size_t kNotThere = static_cast<std::size_t>(-1);
std::size_t positions_size(std::span<const std::uint8_t> bytes, std::uint32_t count);
/// Decodes the positions. REQUIRES: `bytes` contains all of them.
void decode_positions(std::span<const std::uint8_t> bytes, std::uint32_t count, std::vector<std::uint32_t>& out);

/// True when these bytes form a valid list over rows of these lengths; for untrusted bytes.
bool check_list(std::span<const std::uint8_t> bytes, std::span<const LengthCode> lengths);

}  // namespace footnote::bm25
