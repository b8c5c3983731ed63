#pragma once

#include <string_view>
#include <vector>

#include "base/call_context.h"
#include "domain/retrieval.h"
#include "ports/index.h"

namespace footnote {

/// Words in double quotes are a phrase: if any passage contains it, only such passages are found; otherwise, and in long texts, they count
/// as plain words.
struct KeywordQuery {
  CorpusId corpus;
  Generation generation = 0;
  std::string_view text;
  std::size_t limit = 100;
  const Filter* filter = nullptr;  ///< Borrowed; null: no filter.
  bool prefix = false;             ///< The last word may be incomplete: search as you type.
  /// A word that no passage contains also matches words with the same first letter within edit distance 1 (4 letters or more) or 2 (8 or
  /// more).
  bool typos = false;
};

/// Best passages by BM25, best first, ties by chunk id. Thread-safe; readers never wait for writers. kFailedPrecondition: a generation that
/// the index does not hold.
class KeywordSearch {
 public:
  virtual ~KeywordSearch() = default;
  /// The newest searchable generation; older ones are searchable until they are forgotten.
  virtual Result<Generation> generation(const CallContext& call, CorpusId corpus) const = 0;
  virtual Result<std::vector<ScoredChunk>> search(const CallContext& call, const KeywordQuery& query) const = 0;
  /// For each chunk, in order, the share of the query's content words that it contains, weighted by rarity in the corpus, 0..1; words
  /// unknown to the corpus weigh most. 0 if the query has no content words.
  virtual Result<std::vector<double>> coverage(const CallContext& call, const KeywordQuery& query,
                                               std::span<const ChunkId> chunks) const = 0;
};

class KeywordIndex : public KeywordSearch, public IndexWriter {
 public:
  Result<Generation> generation(const CallContext& call, CorpusId corpus) const override = 0;
};

}  // namespace footnote
