#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "base/call_context.h"
#include "domain/retrieval.h"
#include "ports/index.h"

namespace footnote {

/// What a search did, for those who want to know.
struct VectorSearchReport {
  std::string_view plan;     ///< How the rows were read; a name of the implementation's. Empty: none were.
  std::size_t scanned = 0;   ///< Vectors read in the first pass.
  std::size_t rescored = 0;  ///< Of those, the ones whose full numbers were compared.
};

struct VectorQuery {
  CorpusId corpus;
  Generation generation = 0;
  std::span<const float> vector;
  std::size_t limit = 100;
  const Filter* filter = nullptr;        ///< Borrowed; null: as an empty one.
  std::string_view space = {};           ///< The name of a further space; empty for the corpus's own.
  VectorSearchReport* report = nullptr;  ///< Filled by search() where it is set.
};

/// Nearest passages by the space's distance, best first, equal scores by chunk id: the same query on the same generation gives
/// the same list. Exact filters: no row outside them is seen. Thread-safe, readers never wait for writers.
/// kFailedPrecondition: another dimension than the space, or a generation that the index does not hold. kNotFound: a further space
/// that the corpus does not have. kInvalidArgument: a vector without direction, where that counts, or not finite.
class VectorSearch {
 public:
  virtual ~VectorSearch() = default;
  /// The newest generation that can be searched; older ones too, until they are forgotten.
  virtual Result<Generation> generation(const CallContext& call, CorpusId corpus) const = 0;
  virtual Result<std::vector<ScoredChunk>> search(const CallContext& call, const VectorQuery& query) const = 0;
  /// The score of the query's vector and each of these chunks (its best window), in their order. For a chunk that is not there: 0,
  /// or minus infinity where scores are distances below zero.
  virtual Result<std::vector<double>> score(const CallContext& call, const VectorQuery& query, std::span<const ChunkId> chunks) const = 0;
};

class VectorStore : public VectorSearch, public IndexWriter {
 public:
  Result<Generation> generation(const CallContext& call, CorpusId corpus) const override = 0;
};

}  // namespace footnote
