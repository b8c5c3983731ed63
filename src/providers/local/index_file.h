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

/// Content type of an index file. A number never changes its meaning.
enum class IndexKind : std::uint32_t { kVectors = 1, kKeywords = 2, kCodes = 3, kGraphs = 4 };

/// Identifies an index file. An index is a cache: a file whose head differs from the expected one is useless.
struct IndexHead {
  IndexKind kind = IndexKind::kVectors;
  std::uint32_t rules = 0;  ///< Version of the rules that derive its contents from the store; different rules make a different index.
  CorpusId corpus;
  EmbeddingSpace space;
  Generation generation = 0;
  std::int64_t stamp = 0;  ///< Unique number of that generation's commit (see SqliteChunkStore::stamp).

  bool operator==(const IndexHead&) const = default;
};

// file    := magic:byte[8] format:u32 kind:u32 rules:u32 dimension:i32 distance:u32 corpus:i64 generation:i64 stamp:i64
//            model_bytes:u64 model:byte[model_bytes] sum:u32 section* [raw]
// section := bytes:u64 content:byte[bytes] sum:u32
// raw     := zeros to a multiple of kRawAlignment; content
// A sum is the CRC-32C of everything before it, continued from the previous sum. So every byte except those of `raw` is covered, and
// sections cannot be swapped. `raw` is memory-mapped and never read as a whole: the sections before it hold the checksums of its pieces and
// its length. Nothing follows the last section or raw.

inline constexpr std::uint32_t kIndexFormat = 2;
inline constexpr std::uint64_t kRawAlignment = 4096;
/// Maximum length of a model name in a file.
inline constexpr std::uint64_t kModelBytesMax = 4096;

/// The start of a file's raw part. Shared: it stays mapped while anyone holds it, even if the file is replaced.
using RawBytes = std::shared_ptr<const std::byte>;

/// Writes an index file, which becomes visible only when complete (see AtomicFile).
class IndexFileWriter {
 public:
  static Result<IndexFileWriter> create(const std::filesystem::path& path, const IndexHead& head);

  /// Calls `content` twice, first to learn the length: it must write the same both times.
  Result<void> section(const std::function<Result<void>(ByteSink&)>& content);
  /// Call after all sections. Returns the written bytes, memory-mapped, for use after a successful commit(). Null if empty.
  Result<RawBytes> raw(const std::function<Result<void>(ByteSink&)>& content);
  /// Call once, last.
  Result<void> commit() { return file_.commit(); }

 private:
  explicit IndexFileWriter(AtomicFile file) : file_(std::move(file)) {}

  AtomicFile file_;
  std::uint64_t size_ = 0;
  std::uint32_t sum_ = 0;
};

/// Reads an index file, section by section. Every error except disk errors is kCorrupted (damaged, truncated, another format) and says why.
class IndexFileReader {
 public:
  static Result<IndexFileReader> open(const std::filesystem::path& path);

  const IndexHead& head() const { return head_; }
  std::uint64_t size() const { return file_.size(); }

  /// Lets `content` read the next section, then checks that all of it was read and that the sum matches. Do not use the data before this
  /// returns.
  Result<void> section(const std::function<Result<void>(ByteSource&)>& content);
  /// Call after the last section. kCorrupted if anything follows.
  Result<void> finish() const;
  /// Instead of finish(): maps what raw() wrote. kCorrupted if it is not `bytes` long. Null if empty.
  Result<RawBytes> raw(std::uint64_t bytes);
  /// The length of the raw part, if only it can follow.
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
