#pragma once

#include <map>
#include <optional>
#include <vector>

#include "domain/retrieval.h"
#include "ports/index.h"

namespace footnote::fakes {

/// The rows of one index by corpus and chunk, including dead rows until they are forgotten. Shared by both memory indexes. Not thread-safe:
/// its owner locks.
class IndexTable {
 public:
  struct Row {
    IndexRow row;
    std::optional<Generation> died;
  };

  Generation generation(CorpusId corpus) const;
  Result<void> apply(CorpusId corpus, const IndexChanges& changes);
  void forget(CorpusId corpus, Generation died_until);
  void drop(CorpusId corpus);

  /// Rows visible in a generation that match the filter, in chunk order. Valid until the next change. kFailedPrecondition: a generation
  /// that is not available.
  Result<std::vector<const Row*>> visible(CorpusId corpus, Generation generation, const Filter* filter) const;

 private:
  struct Corpus {
    Generation generation = 0;
    Generation oldest = 0;
    std::map<ChunkId, Row> rows;
  };
  std::map<CorpusId, Corpus> corpora_;
};

/// Best first, equal scores by chunk; at most `limit`.
void keep_best(std::vector<ScoredChunk>& found, std::size_t limit);

}  // namespace footnote::fakes
