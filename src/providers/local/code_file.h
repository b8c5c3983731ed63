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

/// A non-owning view of PassageCodes.
struct CodesView {
  std::uint32_t form = 0;
  std::uint32_t dimension = 0;
  std::span<const std::byte> windows;  ///< 32-bit numbers: tokens in each window.
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

/// A passage with larger codes is not in the file, only in the store.
inline constexpr std::uint64_t kCodeRecordBytesMax = std::uint64_t{16} << 20;

// The raw part of an index file of codes; it has no sections, so that opening it reads only its head and its end.
//   raw    := record* entry[count] count:u64 bytes:u64 sum:u32
//   record := form:u32 dimension:u32 windows:u32 tokens:u32[windows] signs; empty for a passage without codes
//   entry  := chunk:i64 offset:u64 bytes:u32 sum:u32; ascending by chunk
// `bytes` is the size of all records. An entry's sum is the CRC-32C of its chunk, offset and record, checked on read: a damaged entry
// yields no codes, never wrong ones. The last sum covers the two numbers before it.

/// Writes this format, passage by passage.
class CodeFileWriter {
 public:
  /// Borrows the sink.
  explicit CodeFileWriter(ByteSink& sink) : sink_(sink) {}

  /// REQUIRES: chunks are added in ascending order; record_bytes(codes) <= kCodeRecordBytesMax.
  Result<void> add(ChunkId chunk, const CodesView& codes);
  /// Size of all records so far.
  std::uint64_t bytes() const { return bytes_; }
  /// Call once, last.
  Result<void> finish();
  /// Size of the whole raw part once finished.
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

/// Memory-mapped token codes of a corpus's passages. Reads only what is requested, and checks a record's sum on first use. Thread-safe.
class CodeFile {
 public:
  CodeFile() = default;
  /// `raw` has `size` bytes. kCorrupted if its end is inconsistent.
  static Result<std::shared_ptr<const CodeFile>> open(RawBytes raw, std::uint64_t size);

  std::uint64_t count() const { return count_; }
  std::uint64_t bytes() const { return bytes_; }

  /// The codes of a chunk; form 0 means that it has none. nullopt: not in the file, or damaged.
  std::optional<CodesView> find(ChunkId chunk) const;
  /// The position of a chunk, for read() and prefetch(); nullopt: not in the file.
  std::optional<std::uint64_t> place_of(ChunkId chunk) const;
  /// Like find(); nullopt: damaged.
  std::optional<CodesView> read(std::uint64_t place) const { return read(place, false); }
  /// Prefetches what read() will access.
  void prefetch(std::uint64_t place) const;
  /// True if some codes failed their checksum.
  bool is_damaged() const { return damaged_.load(std::memory_order_relaxed); }
  /// Verifies the whole file. kCorrupted says how many records are unusable.
  Result<void> check() const;

 private:
  CodeFile(RawBytes raw, std::uint64_t count, std::uint64_t bytes)
      : raw_(std::move(raw)), count_(count), bytes_(bytes), known_sound_(std::make_unique<std::atomic<bool>[]>(count)) {}
  const std::byte* entry(std::uint64_t at) const;
  std::int64_t chunk_at(std::uint64_t at) const;
  /// Like read(); `anew`: verify the checksum again, even if it was verified before.
  std::optional<CodesView> read(std::uint64_t place, bool anew) const;

  RawBytes raw_;
  std::uint64_t count_ = 0;
  std::uint64_t bytes_ = 0;
  std::unique_ptr<std::atomic<bool>[]> known_sound_;
  mutable std::atomic<bool> damaged_ = false;
};

}  // namespace footnote
