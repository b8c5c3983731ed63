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

/// A corpus on its way into another embedding space: its chunks' new vectors are kept beside the old ones, which stay the corpus's until
/// all are there and take their place in one step. What is kept survives a crash, so a rebuild goes on where it was. Thread-safe.
class SqliteReembedding {
 public:
  explicit SqliteReembedding(SqliteStore& store) : store_(store) {}

  struct Progress {
    std::int64_t done = 0;
    std::int64_t total = 0;
  };
  Result<Progress> progress(const CallContext& call, CorpusId corpus, const EmbeddingSpace& target) const;

  /// A chunk whose vectors in the new space are missing.
  struct Missing {
    ChunkId chunk;
    std::vector<std::string> heading_path;
    std::string text;
  };
  /// The first ones by id past `after`; dead ones too: they are read until they are purged.
  Result<std::vector<Missing>> missing(const CallContext& call, CorpusId corpus, const EmbeddingSpace& target, ChunkId after,
                                       std::size_t limit) const;

  struct NextVectors {
    ChunkId chunk;
    std::vector<std::vector<float>> vectors;
    PassageCodes codes = {};
  };
  /// Chunks that were purged meanwhile are passed over. kInvalidArgument: no vectors, of another dimension, or not finite; codes cut short.
  Result<void> put(const CallContext& call, const EmbeddingSpace& target, std::span<const NextVectors> vectors);

  /// The space is the corpus's from now on, and so are its vectors: all in one step. False, and nothing has changed, when some are
  /// missing.
  Result<bool> switch_over(const CallContext& call, CorpusId corpus, const EmbeddingSpace& target);

  /// How many chunks have token codes of another form than this, or a text and none.
  Result<std::int64_t> count_other_codes(const CallContext& call, CorpusId corpus, std::uint32_t form) const;
  /// The first of them by id past `after`, dead ones too.
  Result<std::vector<Missing>> other_codes(const CallContext& call, CorpusId corpus, std::uint32_t form, ChunkId after,
                                           std::size_t limit) const;
  struct NextCodes {
    ChunkId chunk;
    PassageCodes codes;
  };
  /// In the place of those that the chunks have. Chunks that were purged meanwhile are passed over. kInvalidArgument: codes cut short.
  Result<void> put_codes(const CallContext& call, std::span<const NextCodes> codes);

  /// Lets go of all that is kept of a corpus. Works in small transactions.
  Result<void> discard(const CallContext& call, CorpusId corpus);

 private:
  SqliteStore& store_;
};

}  // namespace footnote
