#include "fakes/memory_vector_store.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace footnote::fakes {

namespace {

double dot(std::span<const float> a, std::span<const float> b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += static_cast<double>(a[i]) * b[i];
  return sum;
}

double score_of(Distance distance, std::span<const float> a, std::span<const float> b) {
  double squares = 0;
  double magnitudes = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double apart = static_cast<double>(a[i]) - b[i];
    squares += apart * apart;
    magnitudes += std::abs(apart);
  }
  switch (distance) {
    case Distance::kCosine: {
      const double lengths = std::sqrt(dot(a, a) * dot(b, b));
      return lengths == 0 ? 0 : dot(a, b) / lengths;
    }
    case Distance::kDot: return dot(a, b);
    case Distance::kEuclid: return -std::sqrt(squares);
    case Distance::kManhattan: return -magnitudes;
  }
  return 0;
}

const std::vector<std::vector<float>>* vectors_of(const IndexRow& row, const std::string& space) {
  if (space.empty()) return &row.vectors;
  const auto found = row.named_vectors.find(space);
  return found == row.named_vectors.end() ? nullptr : &found->second;
}

/// The best window of each row counts; rows without vectors in the space are left out.
std::vector<ScoredChunk> all_scores(const std::vector<const IndexTable::Row*>& rows, const std::string& space, Distance distance,
                                    std::span<const float> vector) {
  std::vector<ScoredChunk> found;
  for (const IndexTable::Row* row : rows) {
    const auto* vectors = vectors_of(row->row, space);
    if (vectors == nullptr || vectors->empty()) continue;
    double best = -std::numeric_limits<double>::infinity();
    for (const auto& window : *vectors) best = std::max(best, score_of(distance, vector, window));
    found.push_back({row->row.chunk, best});
  }
  return found;
}

}  // namespace

Result<Generation> MemoryVectorStore::generation(const CallContext&, CorpusId corpus) const {
  MutexLock lock(mutex_);
  return table_.generation(corpus);
}

Result<MemoryVectorStore::Space> MemoryVectorStore::space_of(const VectorQuery& query) const {
  const auto corpus = spaces_.find(query.corpus);
  if (corpus != spaces_.end()) {
    if (const auto found = corpus->second.find(query.space); found != corpus->second.end()) {
      const std::size_t dimension = found->second.dimension;
      if (dimension == 0 || dimension == query.vector.size()) return found->second;
      return fail(ErrorCode::kFailedPrecondition, "query dim {} != index dim {}", query.vector.size(), dimension);
    }
  }
  if (!query.space.empty()) return fail(ErrorCode::kNotFound, "no space '{}'", query.space);
  return Space{};
}

Result<std::vector<ScoredChunk>> MemoryVectorStore::search(const CallContext& call, const VectorQuery& query) const {
  FOOTNOTE_CHECK(call.check());
  FOOTNOTE_CHECK(faults_.next());
  MutexLock lock(mutex_);
  FOOTNOTE_TRY(const auto rows, table_.visible(query.corpus, query.generation, query.filter));
  FOOTNOTE_TRY(const Space space, space_of(query));
  auto found = all_scores(rows, std::string(query.space), space.distance, query.vector);
  if (query.report != nullptr) *query.report = {"all", found.size(), found.size()};
  keep_best(found, query.limit);
  return found;
}

Result<std::vector<double>> MemoryVectorStore::score(const CallContext& call, const VectorQuery& query,
                                                     std::span<const ChunkId> chunks) const {
  FOOTNOTE_CHECK(call.check());
  MutexLock lock(mutex_);
  FOOTNOTE_TRY(const auto rows, table_.visible(query.corpus, query.generation, query.filter));
  FOOTNOTE_TRY(const Space space, space_of(query));
  std::map<ChunkId, double> by_chunk;
  for (const auto& scored : all_scores(rows, std::string(query.space), space.distance, query.vector)) by_chunk[scored.chunk] = scored.score;
  const bool counts_down = space.distance == Distance::kEuclid || space.distance == Distance::kManhattan;
  const double none = counts_down ? -std::numeric_limits<double>::infinity() : 0;
  std::vector<double> out;
  for (ChunkId chunk : chunks) out.push_back(by_chunk.contains(chunk) ? by_chunk[chunk] : none);
  return out;
}

Result<void> MemoryVectorStore::apply(const CallContext& call, CorpusId corpus, const IndexChanges& changes) {
  FOOTNOTE_CHECK(call.check());
  MutexLock lock(mutex_);
  auto spaces = spaces_[corpus];
  const auto check = [&](const std::string& name, std::size_t dimension, Distance distance) -> Result<void> {
    Space& space = spaces.try_emplace(name, Space{dimension, distance}).first->second;
    if (space.distance != distance || (dimension != 0 && space.dimension != dimension)) {
      return fail(ErrorCode::kFailedPrecondition, "space '{}' is another now", name);
    }
    for (const IndexRow& row : changes.added) {
      const auto* vectors = vectors_of(row, name);
      if (vectors == nullptr) continue;
      for (const std::vector<float>& vector : *vectors) {
        if (space.dimension == 0) space.dimension = vector.size();
        if (vector.size() != space.dimension) {
          return fail(ErrorCode::kFailedPrecondition, "row dim {} != index dim {}", vector.size(), space.dimension);
        }
      }
    }
    return {};
  };
  FOOTNOTE_CHECK(check("", 0, changes.distance));
  for (const NamedSpace& named : changes.named_spaces) {
    FOOTNOTE_CHECK(check(named.name, static_cast<std::size_t>(named.dimension), named.distance));
  }
  for (const IndexRow& row : changes.added) {
    for (const auto& [name, vectors] : row.named_vectors) {
      if (!spaces.contains(name)) return fail(ErrorCode::kInvalidArgument, "no space '{}'", name);
    }
  }
  FOOTNOTE_CHECK(table_.apply(corpus, changes));
  spaces_[corpus] = std::move(spaces);
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
  spaces_.erase(corpus);
  return {};
}

}  // namespace footnote::fakes
