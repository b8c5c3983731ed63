#pragma once

#include <atomic>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "domain/ids.h"
#include "domain/token_codes.h"
#include "providers/local/index_file.h"

namespace footnote {

/// Codes as they lie somewhere: PassageCodes that own nothing.
struct CodesView {
  std::uint32_t form = 0;
  std::uint32_t dimension = 0;
  std::span<const std::byte> windows;  ///< 32-bit numbers: the tokens of each.
  std::span<const std::byte> signs;

  std::size_t window_count() const { return windows.size() / sizeof(std::uint32_t); }
  std::uint32_t window_tokens(std::size_t window) const {
    std::uint32_t tokens = 0;
    std::memcpy(&tokens, windows.data() + window * sizeof tokens, sizeof tokens);
    return tokens;
  }
};

inline CodesView view_of(const PassageCodes& codes) {
  return {codes.form, codes.dimension, std::as_bytes(std::span(codes.windows)), codes.signs};
}

/// A passage whose codes take more is left to the store.
inline constexpr std::uint64_t kCodeRecordBytesMax = std::uint64_t{16} << 20;

// What an index file of codes holds as raw; it has no sections, so that opening it reads its head and end alone.
//   raw    := record* entry[count] count:u64 bytes:u64 sum:u32
//   record := form:u32 dimension:u32 windows:u32 tokens:u32[windows] signs; nothing for a passage without codes
//   entry  := chunk:i64 offset:u64 bytes:u32 sum:u32; ascending by chunk
// `bytes` are those of all records. An entry's sum is the CRC-32C of its chunk, offset and record, checked whenever it is read: whatever is
// wrong with an entry, it gives either the right codes or none. The last sum is of the two numbers before it.

/// Writes them, passage by passage.
class CodeFileWriter {
 public:
  /// Borrows the sink.
  explicit CodeFileWriter(ByteSink& sink) : sink_(sink) {}

  /// REQUIRES: the chunk comes after those before; no more than kCodeRecordBytesMax (see record_bytes).
  Result<void> add(ChunkId chunk, const CodesView& codes);
  /// Of all records up to now.
  std::uint64_t bytes() const { return bytes_; }
  /// Call once, last.
  Result<void> finish();
  /// Of all that was written, when it is finished.
  std::uint64_t file_bytes() const;

  static std::uint64_t record_bytes(const CodesView& codes);

 private:
  struct Entry {
    std::int64_t chunk;
    std::uint64_t offset;
    std::uint32_t bytes;
    std::uint32_t sum;
  };

  ByteSink& sink_;
  std::uint64_t bytes_ = 0;
  std::vector<Entry> entries_;
};

/// Token codes of a corpus's passages, mapped. Only what is asked for is read, and checked against its sum when it is first met.
/// Thread-safe.
class CodeFile {
 public:
  CodeFile() = default;
  /// `raw` has `size` bytes. kCorrupted when its end does not fit.
  static Result<std::shared_ptr<const CodeFile>> open(RawBytes raw, std::uint64_t size);

  std::uint64_t count() const { return count_; }
  std::uint64_t bytes() const { return bytes_; }

  /// The codes of a chunk; those of form 0 say that it has none. nullopt: it is not in the file, or what is there is damaged.
  std::optional<CodesView> find(ChunkId chunk) const;
  /// Where a chunk lies, for read() and prefetch(); nullopt: it is not in the file.
  std::optional<std::uint64_t> place_of(ChunkId chunk) const;
  /// As find() does; nullopt: what is there is damaged.
  std::optional<CodesView> read(std::uint64_t place) const { return read(place, false); }
  /// Asks for what read() will look at.
  void prefetch(std::uint64_t place) const;
  /// True when some codes failed their sum.
  bool is_damaged() const { return damaged_.load(std::memory_order_relaxed); }
  /// Reads all of it. kCorrupted: how many can't be used.
  Result<void> check() const;

 private:
  CodeFile(RawBytes raw, std::uint64_t count, std::uint64_t bytes)
      : raw_(std::move(raw)), count_(count), bytes_(bytes), known_sound_(std::make_unique<std::atomic<bool>[]>(count)) {}
  const std::byte* entry(std::uint64_t at) const;
  std::int64_t chunk_at(std::uint64_t at) const;
  /// As read() does; `anew`: whatever is known of it.
  std::optional<CodesView> read(std::uint64_t place, bool anew) const;

  RawBytes raw_;
  std::uint64_t count_ = 0;
  std::uint64_t bytes_ = 0;
  std::unique_ptr<std::atomic<bool>[]> known_sound_;
  mutable std::atomic<bool> damaged_ = false;
};

}  // namespace footnote
