#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>

#include "base/byte_stream.h"
#include "base/file.h"
#include "domain/catalog.h"
#include "domain/ids.h"

namespace footnote {

/// What is written in an index file. A number never changes its meaning.
enum class IndexKind : std::uint32_t { kVectors = 1, kKeywords = 2, kCodes = 3, kGraphs = 4 };

/// What an index file is of. An index is a cache: a file that says anything else than what is asked for is worth nothing.
struct IndexHead {
  IndexKind kind = IndexKind::kVectors;
  std::uint32_t rules = 0;  ///< Version of how its contents are made out of the store's: another one makes another index.
  CorpusId corpus;
  EmbeddingSpace space;
  Generation generation = 0;
  std::int64_t stamp = 0;  ///< The commit of that generation, told from all others (see SqliteChunkStore::stamp).

  bool operator==(const IndexHead&) const = default;
};

// file    := magic:byte[8] format:u32 kind:u32 rules:u32 dimension:i32 distance:u32 corpus:i64 generation:i64 stamp:i64
//            model_bytes:u64 model:byte[model_bytes] sum:u32 section* [raw]
// section := bytes:u64 content:byte[bytes] sum:u32
// raw     := zeros to a multiple of kRawAlignment; content
// A sum is the CRC-32C of all that stands before it, from the sum before on. So every byte but those of `raw` is under a sum, and
// each section has its one place. What raw holds is mapped and never read as a whole: the sections before it hold the sums of its
// pieces, and say how long it is. Nothing follows the last section or raw.

inline constexpr std::uint32_t kIndexFormat = 2;
inline constexpr std::uint64_t kRawAlignment = 4096;
/// The longest name of a model that a file may carry.
inline constexpr std::uint64_t kModelBytesMax = 4096;

/// The first byte of what a file holds as raw. Shared: it stays mapped as long as somebody has it, whatever becomes of the file.
using RawBytes = std::shared_ptr<const std::byte>;

/// Writes an index file, which shows when it is whole (see AtomicFile).
class IndexFileWriter {
 public:
  static Result<IndexFileWriter> create(const std::filesystem::path& path, const IndexHead& head);

  /// Calls `content` twice, first to learn the length: it must write the same both times.
  Result<void> section(const std::function<Result<void>(ByteSink&)>& content);
  /// After all sections. Gives what was written, mapped, to be used when commit() has gone well. Null when it is nothing.
  Result<RawBytes> raw(const std::function<Result<void>(ByteSink&)>& content);
  /// Call once, last.
  Result<void> commit() { return file_.commit(); }

 private:
  explicit IndexFileWriter(AtomicFile file) : file_(std::move(file)) {}

  AtomicFile file_;
  std::uint64_t size_ = 0;
  std::uint32_t sum_ = 0;
};

/// Reads an index file, section by section. Every error but those of the disk is kCorrupted (damaged, cut short, another format) and
/// says why.
class IndexFileReader {
 public:
  static Result<IndexFileReader> open(const std::filesystem::path& path);

  const IndexHead& head() const { return head_; }
  std::uint64_t size() const { return file_.size(); }

  /// Lets `content` read the next section, then checks that it took all of it and that the sum fits. Nothing of what `content` was
  /// given may be used before that.
  Result<void> section(const std::function<Result<void>(ByteSource&)>& content);
  /// Call after the last section. kCorrupted when something follows.
  Result<void> finish() const;
  /// Instead of finish(): maps what raw() wrote. kCorrupted when that is not `bytes` long. Null when it is nothing.
  Result<RawBytes> raw(std::uint64_t bytes);
  /// How long raw is, when nothing but it can follow.
  std::uint64_t raw_bytes() const;

 private:
  explicit IndexFileReader(InputFile file) : file_(std::move(file)), left_(file_.size()) {}
  Result<void> read_head();
  Result<void> check_sum();

  InputFile file_;
  std::uint64_t left_;
  std::uint32_t sum_ = 0;
  IndexHead head_;
};

}  // namespace footnote
