#include "fakes/memory_vector_store.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace footnote::fakes {

namespace {

double dot(std::span<const float> a, std::span<const float> b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += static_cast<double>(a[i]) * b[i];
  return sum;
}

/// The best window counts. kFailedPrecondition for vectors that can't be compared.
Result<double> best_cosine(std::span<const float> query, const IndexRow& row) {
  double best = -1;
  for (const std::vector<float>& vector : row.vectors) {
    if (vector.size() != query.size()) {
      return fail(ErrorCode::kFailedPrecondition, "query dim {} != index dim {}", query.size(), vector.size());
    }
    const double lengths = std::sqrt(dot(query, query) * dot(vector, vector));
    best = std::max(best, lengths == 0 ? 0 : dot(query, vector) / lengths);
  }
  return best;
}

Result<std::vector<ScoredChunk>> all_scores(const std::vector<const IndexTable::Row*>& rows, std::span<const float> vector) {
  std::vector<ScoredChunk> found;
  for (const IndexTable::Row* row : rows) {
    if (row->row.vectors.empty()) continue;
    FOOTNOTE_TRY(const double cosine, best_cosine(vector, row->row));
    found.push_back({row->row.chunk, cosine});
  }
  return found;
}

}  // namespace

Result<Generation> MemoryVectorStore::generation(const CallContext&, CorpusId corpus) const {
  MutexLock lock(mutex_);
  return table_.generation(corpus);
}

Result<std::vector<ScoredChunk>> MemoryVectorStore::search(const CallContext& call, const VectorQuery& query) const {
  FOOTNOTE_CHECK(call.check());
  FOOTNOTE_CHECK(faults_.next());
  MutexLock lock(mutex_);
  FOOTNOTE_TRY(const auto rows, table_.visible(query.corpus, query.generation, query.filter));
  FOOTNOTE_TRY(auto found, all_scores(rows, query.vector));
  keep_best(found, query.limit);
  return found;
}

Result<std::vector<double>> MemoryVectorStore::score(const CallContext& call, const VectorQuery& query,
                                                     std::span<const ChunkId> chunks) const {
  FOOTNOTE_CHECK(call.check());
  MutexLock lock(mutex_);
  FOOTNOTE_TRY(const auto rows, table_.visible(query.corpus, query.generation, query.filter));
  FOOTNOTE_TRY(const auto found, all_scores(rows, query.vector));
  std::map<ChunkId, double> by_chunk;
  for (const ScoredChunk& scored : found) by_chunk[scored.chunk] = scored.score;
  std::vector<double> out;
  for (ChunkId chunk : chunks) out.push_back(by_chunk.contains(chunk) ? by_chunk[chunk] : 0);
  return out;
}

Result<void> MemoryVectorStore::apply(const CallContext& call, CorpusId corpus, const IndexChanges& changes) {
  FOOTNOTE_CHECK(call.check());
  MutexLock lock(mutex_);
  const auto known = dimensions_.find(corpus);
  std::size_t dimension = known == dimensions_.end() ? 0 : known->second;
  for (const IndexRow& row : changes.added) {
    for (const std::vector<float>& vector : row.vectors) {
      if (dimension == 0) dimension = vector.size();
      if (vector.size() == dimension) continue;
      return fail(ErrorCode::kFailedPrecondition, "row dim {} != index dim {}", vector.size(), dimension);
    }
  }
  FOOTNOTE_CHECK(table_.apply(corpus, changes));
  dimensions_[corpus] = dimension;
  return {};
}

Result<void> MemoryVectorStore::forget(const CallContext&, CorpusId corpus, Generation died_until) {
  MutexLock lock(mutex_);
  table_.forget(corpus, died_until);
  return {};
}

Result<void> MemoryVectorStore::drop(const CallContext&, CorpusId corpus) {
  MutexLock lock(mutex_);
  table_.drop(corpus);
  dimensions_.erase(corpus);
  return {};
}

}  // namespace footnote::fakes
