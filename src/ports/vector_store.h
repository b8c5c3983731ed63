#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "base/call_context.h"
#include "domain/retrieval.h"
#include "ports/index.h"

namespace footnote {

/// Statistics of a search.
struct VectorSearchReport {
  std::string_view plan;     ///< The scan plan's name, as defined by the implementation; empty: nothing was scanned.
  std::size_t scanned = 0;   ///< Vectors read in the first pass.
  std::size_t rescored = 0;  ///< How many of them were rescored with full precision.
};

struct VectorQuery {
  CorpusId corpus;
  Generation generation = 0;
  std::span<const float> vector;
  std::size_t limit = 100;
  const Filter* filter = nullptr;        ///< Borrowed; null: no filter.
  std::string_view space = {};           ///< A named space; empty: the corpus's own space.
  VectorSearchReport* report = nullptr;  ///< If set, filled by search().
};

/// Nearest passages by the space's distance, best first, ties by chunk id: the same query on the same generation returns the same list.
/// Filters are exact: no other row is returned. Thread-safe; readers never wait for writers. kFailedPrecondition: a dimension other than
/// the space's, or a generation that the index does not hold. kNotFound: the corpus has no such named space. kInvalidArgument: a zero
/// vector where the distance needs a direction, or a vector that is not finite.
class VectorSearch {
 public:
  virtual ~VectorSearch() = default;
  /// The newest searchable generation; older ones are searchable until they are forgotten.
  virtual Result<Generation> generation(const CallContext& call, CorpusId corpus) const = 0;
  virtual Result<std::vector<ScoredChunk>> search(const CallContext& call, const VectorQuery& query) const = 0;
  /// The score of the query's vector for each of these chunks (its best window), in order. For a chunk that does not exist: 0, or minus
  /// infinity if scores are negative distances.
  virtual Result<std::vector<double>> score(const CallContext& call, const VectorQuery& query, std::span<const ChunkId> chunks) const = 0;
};

class VectorStore : public VectorSearch, public IndexWriter {
 public:
  Result<Generation> generation(const CallContext& call, CorpusId corpus) const override = 0;
};

}  // namespace footnote
