#pragma once

#include <string_view>
#include <vector>

#include "base/call_context.h"
#include "domain/retrieval.h"
#include "ports/index.h"

namespace footnote {

/// Words in double quotes are a phrase: only passages that hold them next to each other, in that order, are found, as
/// long as there is one; otherwise, and in long texts, they are plain words.
struct KeywordQuery {
  CorpusId corpus;
  Generation generation = 0;
  std::string_view text;
  std::size_t limit = 100;
  const Filter* filter = nullptr;  ///< Borrowed; null: as an empty one.
  bool prefix = false;             ///< The last word may go on: for searching while it is typed.
  /// A word that no passage holds also finds words with the same first letter that are one edit away (of four letters
  /// or more) or two (of eight or more).
  bool typos = false;
};

/// Best passages by BM25, best first, equal scores by chunk id. Thread-safe, readers never wait for writers.
/// kFailedPrecondition: a generation that the index does not hold.
class KeywordSearch {
 public:
  virtual ~KeywordSearch() = default;
  /// The newest generation that can be searched; older ones too, until they are forgotten.
  virtual Result<Generation> generation(const CallContext& call, CorpusId corpus) const = 0;
  virtual Result<std::vector<ScoredChunk>> search(const CallContext& call, const KeywordQuery& query) const = 0;
  /// For each of these chunks the share of the query's content words that it holds, weighed by rarity in the
  /// corpus, 0..1, in their order; words that the corpus does not know at all weigh most. 0 where the query has
  /// no content words.
  virtual Result<std::vector<double>> coverage(const CallContext& call, const KeywordQuery& query,
                                               std::span<const ChunkId> chunks) const = 0;
};

class KeywordIndex : public KeywordSearch, public IndexWriter {
 public:
  Result<Generation> generation(const CallContext& call, CorpusId corpus) const override = 0;
};

}  // namespace footnote
