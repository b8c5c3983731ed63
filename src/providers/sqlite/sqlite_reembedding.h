#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/call_context.h"
#include "domain/catalog.h"
#include "domain/ids.h"
#include "domain/token_codes.h"
#include "providers/sqlite/sqlite_store.h"

namespace footnote {

/// Moves a corpus to another embedding space: the new vectors of its chunks are stored beside the old ones, which stay in use until all new
/// ones exist and replace them atomically. Progress survives a crash, so a rebuild resumes where it stopped. Thread-safe.
class SqliteReembedding {
 public:
  explicit SqliteReembedding(SqliteStore& store) : store_(store) {}

  struct Progress {
    std::int64_t done = 0;
    std::int64_t total = 0;
  };
  Result<Progress> progress(const CallContext& call, CorpusId corpus, const EmbeddingSpace& target) const;

  /// A chunk without vectors in the new space.
  struct Missing {
    ChunkId chunk;
    std::vector<std::string> heading_path;
    std::string text;
  };
  /// The first ones by id after `after`; includes dead chunks, which are readable until purged.
  Result<std::vector<Missing>> missing(const CallContext& call, CorpusId corpus, const EmbeddingSpace& target, ChunkId after,
                                       std::size_t limit) const;

  struct NextVectors {
    ChunkId chunk;
    std::vector<std::vector<float>> vectors;
    PassageCodes codes = {};
  };
  /// Skips chunks that were purged meanwhile. kInvalidArgument: no vectors, a wrong dimension, not finite, or truncated codes.
  Result<void> put(const CallContext& call, const EmbeddingSpace& target, std::span<const NextVectors> vectors);

  /// Atomically switches the corpus to the new space and vectors. Returns false and changes nothing if some are missing.
  Result<bool> switch_over(const CallContext& call, CorpusId corpus, const EmbeddingSpace& target);

  /// Number of chunks whose token codes have another form, or that have a text but no codes.
  Result<std::int64_t> count_other_codes(const CallContext& call, CorpusId corpus, std::uint32_t form) const;
  /// The first of them by id after `after`, including dead ones.
  Result<std::vector<Missing>> other_codes(const CallContext& call, CorpusId corpus, std::uint32_t form, ChunkId after,
                                           std::size_t limit) const;
  struct NextCodes {
    ChunkId chunk;
    PassageCodes codes;
  };
  /// Replaces the chunks' codes. Skips chunks that were purged meanwhile. kInvalidArgument: truncated codes.
  Result<void> put_codes(const CallContext& call, std::span<const NextCodes> codes);

  /// Deletes the stored progress of a corpus. Uses small transactions.
  Result<void> discard(const CallContext& call, CorpusId corpus);

 private:
  SqliteStore& store_;
};

}  // namespace footnote
