#include "providers/local/local_vector_store.h"

#include <cmath>
#include <deque>
#include <numeric>

#include "base/log.h"
#include "providers/local/filtered_rows.h"

namespace footnote {
namespace {

// Lengths this near to 1 are left alone: the embedder's own rounding.
constexpr float kUnitTolerance = 1e-5F;

/// 0 for a vector without direction.
float length_of(std::span<const float> vector) {
  const double square = std::inner_product(vector.begin(), vector.end(), vector.begin(), 0.0);
  return std::isfinite(square) ? static_cast<float>(std::sqrt(square)) : 0.0F;
}

/// Unit-length views of vectors; makes a copy only of those that need it. Views live as long as this.
class UnitVectors {
 public:
  /// Empty for a vector without direction.
  std::span<const float> unit(std::span<const float> vector) {
    const float length = length_of(vector);
    if (length == 0) return {};
    if (std::abs(length - 1) <= kUnitTolerance) return vector;
    auto& copy = copies_.emplace_back(vector.begin(), vector.end());
    for (float& value : copy) value /= length;
    return copy;
  }

 private:
  std::deque<std::vector<float>> copies_;
};

Result<void> check_dimension(std::size_t expected, std::size_t found) {
  if (expected == found) return {};
  return fail(ErrorCode::kFailedPrecondition,
              "a vector of {} numbers does not fit an index of {}: use the model that the corpus was made with", found, expected);
}

/// The dimension of the vectors there, or 0 when there are none.
Result<std::size_t> common_dimension(std::size_t dimension, const IndexChanges& changes) {
  for (const IndexRow& row : changes.added) {
    for (const auto& vector : row.vectors) {
      if (dimension == 0) dimension = vector.size();
      if (vector.empty()) return fail(ErrorCode::kInvalidArgument, "chunk {} has an empty vector", row.chunk.value);
      FOOTNOTE_CHECK(check_dimension(dimension, vector.size()));
    }
  }
  return dimension;
}

}  // namespace

Result<void> LocalVectorStore::Rows::save(ByteSink& sink) const {
  FOOTNOTE_CHECK(sink.put(static_cast<std::uint8_t>(index ? 1 : 0)));
  return index ? index->save(sink) : Result<void>{};
}

Result<void> LocalVectorStore::Rows::load(ByteSource& source, const ann::RowLimits& limits) {
  FOOTNOTE_TRY(const auto filled, source.take<std::uint8_t>());
  if (filled == 0) return {};
  FOOTNOTE_TRY(index, ann::FlatIndex::load(source, limits));
  return {};
}

Result<Generation> LocalVectorStore::generation(const CallContext& call, CorpusId corpus) const {
  FOOTNOTE_CHECK(call.check());
  return corpora_.generation(corpus);
}

Result<void> LocalVectorStore::change(const IndexChanges& changes, Rows& rows, DocumentTableWriter& documents) const {
  FOOTNOTE_TRY(const std::size_t dimension, common_dimension(rows.index ? rows.index->dimension() : 0, changes));
  if (dimension == 0) return {};
  UnitVectors units;
  std::vector<ann::FlatEntry> entries;
  entries.reserve(changes.added.size());
  for (const IndexRow& row : changes.added) {
    ann::FlatEntry entry;
    for (const auto& vector : row.vectors) {
      if (const auto unit = units.unit(vector); !unit.empty()) {
        entry.vectors.push_back(unit);
      } else {
        log(LogLevel::kWarn, "vectors", "left out a vector without direction", {{"chunk", row.chunk.value}});
      }
    }
    if (entry.vectors.empty()) continue;
    entry.row = {.label = row.chunk.value, .group = documents.slot_for(row), .born = row.born};
    entries.push_back(std::move(entry));
  }
  if (!rows.index) rows.index.emplace(dimension, level_);
  rows.index->apply(entries, deaths_of(changes));
  return {};
}

Result<void> LocalVectorStore::apply(const CallContext& call, CorpusId corpus, const IndexChanges& changes) {
  FOOTNOTE_CHECK(call.check());
  return corpora_.apply(corpus, changes, [&](Rows& rows, DocumentTableWriter& documents) { return change(changes, rows, documents); });
}

Result<void> LocalVectorStore::forget(const CallContext& call, CorpusId corpus, Generation died_until) {
  FOOTNOTE_CHECK(call.check());
  corpora_.forget(corpus, died_until);
  return {};
}

Result<void> LocalVectorStore::drop(const CallContext& call, CorpusId corpus) {
  FOOTNOTE_CHECK(call.check());
  corpora_.drop(corpus);
  return {};
}

Result<std::vector<ScoredChunk>> LocalVectorStore::search(const CallContext& call, const VectorQuery& query) const {
  FOOTNOTE_CHECK(call.check());
  FOOTNOTE_TRY(const auto state, corpora_.state_at(query.corpus, query.generation));
  if (!state->rows.index) return std::vector<ScoredChunk>{};
  FOOTNOTE_CHECK(check_dimension(state->rows.index->dimension(), query.vector.size()));
  UnitVectors units;
  const auto unit = units.unit(query.vector);
  if (unit.empty()) return fail(ErrorCode::kInvalidArgument, "the query's vector has no direction");
  const FilteredRows filtered(state->documents, query.filter);
  const auto found =
      state->rows.index->search({.vector = unit, .generation = query.generation, .limit = query.limit, .filter = filtered.rows()});
  std::vector<ScoredChunk> out;
  out.reserve(found.size());
  for (const auto& hit : found) out.push_back({ChunkId{hit.label}, hit.score});
  return out;
}

Result<std::vector<double>> LocalVectorStore::score(const CallContext& call, const VectorQuery& query,
                                                    std::span<const ChunkId> chunks) const {
  FOOTNOTE_CHECK(call.check());
  FOOTNOTE_TRY(const auto state, corpora_.state_at(query.corpus, query.generation));
  if (!state->rows.index) return std::vector<double>(chunks.size(), 0.0);
  FOOTNOTE_CHECK(check_dimension(state->rows.index->dimension(), query.vector.size()));
  UnitVectors units;
  const auto unit = units.unit(query.vector);
  if (unit.empty()) return fail(ErrorCode::kInvalidArgument, "the query's vector has no direction");
  std::vector<std::int64_t> labels;
  labels.reserve(chunks.size());
  for (const ChunkId chunk : chunks) labels.push_back(chunk.value);
  const auto scores = state->rows.index->score(unit, query.generation, labels);
  return std::vector<double>(scores.begin(), scores.end());
}

}  // namespace footnote
