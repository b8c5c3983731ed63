#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "engine/bm25/bit_pack.h"
#include "engine/bm25/row_length.h"

namespace footnote::bm25 {

/// Rows of one segment are below this.
inline constexpr std::size_t kSegmentRowsMax = 65'536;
/// How often a row holds a term; past this a count adds nothing that BM25 would notice, and is cut.
inline constexpr std::uint32_t kCountMax = 255;

/// What a block of a list says of itself, for the search to pass over it.
struct BlockHead {
  std::uint32_t data = 0;       ///< Where its rows and counts begin, from the list's begin.
  std::uint32_t positions = 0;  ///< Where its positions begin.
  std::uint16_t last_row = 0;
  std::uint8_t row_bits = 0;  ///< Of a packed gap, and of a packed count less one; 0 in the rest, which is not packed.
  std::uint8_t count_bits = 0;
  std::uint8_t count_max = 0;  ///< The greatest count less one.
  LengthCode length_min = 0;   ///< The least length of its rows.
  std::uint16_t padding = 0;

  bool operator==(const BlockHead&) const = default;
};
static_assert(sizeof(BlockHead) == 16);

/// A decoded block.
struct Block {
  BlockValues rows;
  BlockValues counts;  ///< Less one.
  std::size_t size = 0;
};

/// The rows that hold one term, ascending, how often each does and where in it. A view into a segment.
///
/// list    := size:varint head:BlockHead[blocks] block* rest positions
/// block   := gap:row_bits[128] (count - 1):count_bits[128], packed (bit_pack.h); gaps from the block's last row before
/// rest    := row:u16[size % 128] (count - 1):u8[size % 128]
/// positions := for each row its positions: the first, then the distances to the next, as varints
/// The rest has a head after the blocks'. A list of less than a block has none at all.
class PostingList {
 public:
  PostingList() = default;
  /// REQUIRES: what ListWriter wrote, or check_list() accepts.
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

/// Walks a list upwards.
class ListCursor {
 public:
  ListCursor() = default;
  explicit ListCursor(const PostingList& list) : list_(list) {}

  const PostingList& list() const { return list_; }
  bool done() const { return block_ >= list_.block_count(); }
  /// The block that holds the first row not below `row` of those not yet passed, or block_count().
  std::size_t block() const { return block_; }
  /// Passes over the blocks that end before `row`, without decoding any.
  void skip_to(std::uint32_t row) {
    while (!done() && list_.last_row(block_) < row) next_block();
  }
  void next_block() {
    ++block_;
    at_ = 0;
  }
  /// The block at the cursor. REQUIRES: !done().
  const Block& decoded() {
    if (decoded_ != block_) {
      list_.decode(block_, buffer_);
      decoded_ = block_;
    }
    return buffer_;
  }
  /// Where in that block the first row not below `row` stands, of those not yet passed. REQUIRES: skip_to(row), !done().
  std::size_t seek(std::uint32_t row) {
    const Block& block = decoded();
    while (block.rows[at_] < row) ++at_;
    return at_;
  }
  /// The count less one of that row, or -1 where the row is not in the list. Rows must be asked for ascending.
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
  /// The next row of the list; `positions` not descending, at least one; those past kCountMax are dropped.
  void add(std::uint32_t row, std::span<const std::uint32_t> positions);
  /// The same from another list: as many encoded positions as `count` says.
  void add_encoded(std::uint32_t row, std::uint32_t count, std::span<const std::uint8_t> positions);
  bool empty() const { return rows_.empty(); }
  /// Appends the list to `out` and begins the next. REQUIRES: not empty. `lengths` by row.
  void finish(std::span<const LengthCode> lengths, std::vector<std::uint8_t>& out);

 private:
  void begin_posting(std::uint32_t row, std::uint32_t count);

  std::vector<std::uint16_t> rows_;
  std::vector<std::uint8_t> counts_;         // Less one.
  std::vector<std::uint8_t> positions_;      // Encoded.
  std::vector<std::uint32_t> block_begins_;  // In positions_.
};

/// Bytes of the positions of a row that holds the term `count` times. kNotThere when `bytes` end before.
inline constexpr std::size_t kNotThere = static_cast<std::size_t>(-1);
std::size_t positions_size(std::span<const std::uint8_t> bytes, std::uint32_t count);
/// Those positions. REQUIRES: they are there.
void decode_positions(std::span<const std::uint8_t> bytes, std::uint32_t count, std::vector<std::uint32_t>& out);

/// True when these bytes are a list over rows of these lengths, whatever wrote them.
bool check_list(std::span<const std::uint8_t> bytes, std::span<const LengthCode> lengths);

}  // namespace footnote::bm25
