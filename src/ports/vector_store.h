#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "base/call_context.h"
#include "domain/retrieval.h"
#include "ports/index.h"

namespace footnote {

struct VectorQuery {
  CorpusId corpus;
  Generation generation = 0;
  std::span<const float> vector;
  std::size_t limit = 100;
  const Filter* filter = nullptr;  ///< Borrowed; null: as an empty one.
  std::string_view space = {};     ///< The name of a further space; empty for the corpus's own.
};

/// Nearest passages by cosine, best first, equal scores by chunk id: the same query on the same generation gives
/// the same list. Exact filters: no row outside them is seen. Thread-safe, readers never wait for writers.
/// kFailedPrecondition: another dimension than the corpus, or a generation that the index does not hold.
class VectorSearch {
 public:
  virtual ~VectorSearch() = default;
  /// The newest generation that can be searched; older ones too, until they are forgotten.
  virtual Result<Generation> generation(const CallContext& call, CorpusId corpus) const = 0;
  virtual Result<std::vector<ScoredChunk>> search(const CallContext& call, const VectorQuery& query) const = 0;
  /// The cosine of the query's vector and each of these chunks (its best window), in their order; 0 for a
  /// chunk that is not there.
  virtual Result<std::vector<double>> score(const CallContext& call, const VectorQuery& query, std::span<const ChunkId> chunks) const = 0;
};

class VectorStore : public VectorSearch, public IndexWriter {
 public:
  Result<Generation> generation(const CallContext& call, CorpusId corpus) const override = 0;
};

}  // namespace footnote
