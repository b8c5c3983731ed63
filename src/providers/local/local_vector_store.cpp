#include "providers/local/local_vector_store.h"

#include <cmath>
#include <deque>
#include <numeric>

#include "base/log.h"
#include "providers/local/filtered_rows.h"

namespace footnote {
namespace {

// Vectors this close to length 1 are not normalized: the difference is the embedder's rounding.
constexpr float kUnitTolerance = 1e-5F;

ann::Metric metric_of(Distance distance) {
  switch (distance) {
    case Distance::kCosine:
    case Distance::kDot: return ann::Metric::kDot;
    case Distance::kEuclid: return ann::Metric::kEuclid;
    case Distance::kManhattan: return ann::Metric::kManhattan;
  }
  return ann::Metric::kDot;
}

/// The score of a row that does not exist.
double score_of_none(Distance distance) {
  switch (distance) {
    case Distance::kCosine:
    case Distance::kDot: return 0;
    case Distance::kEuclid:
    case Distance::kManhattan: return -std::numeric_limits<double>::infinity();
  }
  return 0;
}

/// Vectors as the space compares them: of unit length for cosine, else unchanged. Copies only if needed. Views live as long as this.
class ComparedVectors {
 public:
  explicit ComparedVectors(Distance distance) : distance_(distance) {}

  /// Empty for a vector that can't be compared.
  std::span<const float> view(std::span<const float> vector) {
    const double square = std::inner_product(vector.begin(), vector.end(), vector.begin(), 0.0);
    if (!std::isfinite(square)) return {};
    if (distance_ != Distance::kCosine) return vector;
    const auto length = static_cast<float>(std::sqrt(square));
    if (length == 0) return {};
    if (std::abs(length - 1) <= kUnitTolerance) return vector;
    auto& copy = copies_.emplace_back(vector.begin(), vector.end());
    for (float& value : copy) value /= length;
    return copy;
  }

 private:
  Distance distance_;
  std::deque<std::vector<float>> copies_;
};

Result<void> check_dimension(std::size_t expected, std::size_t found) {
  if (expected == found) return {};
  return fail(ErrorCode::kFailedPrecondition,
              "a vector of {} numbers does not match an index of {}: use the model that the corpus was embedded with", found, expected);
}

const std::vector<std::vector<float>>& vectors_of(const IndexRow& row, const std::string& space) {
  static const std::vector<std::vector<float>> none;
  if (space.empty()) return row.vectors;
  const auto found = row.named_vectors.find(space);
  return found == row.named_vectors.end() ? none : found->second;
}

/// The dimension of a space's vectors, or 0 while there are none.
Result<std::size_t> common_dimension(const std::string& space, std::size_t dimension, const IndexChanges& changes) {
  for (const IndexRow& row : changes.added) {
    for (const auto& vector : vectors_of(row, space)) {
      if (dimension == 0) dimension = vector.size();
      if (vector.empty()) return fail(ErrorCode::kInvalidArgument, "chunk {} has an empty vector", row.chunk.value);
      if (vector.size() > ann::FlatIndex::kDimensionMax) {
        return fail(ErrorCode::kInvalidArgument, "chunk {} has a vector of {} numbers; the most are {}", row.chunk.value, vector.size(),
                    ann::FlatIndex::kDimensionMax);
      }
      FOOTNOTE_CHECK(check_dimension(dimension, vector.size()));
    }
  }
  return dimension;
}

}  // namespace

const LocalVectorStore::Space* LocalVectorStore::Rows::find(std::string_view name) const {
  const auto found = spaces.find(name);
  return found == spaces.end() ? nullptr : &found->second;
}

bool LocalVectorStore::Rows::contains(std::int64_t label, Generation generation) const {
  return std::ranges::any_of(spaces, [&](const auto& each) { return each.second.index && each.second.index->contains(label, generation); });
}

void LocalVectorStore::Rows::forget(Generation died_until) {
  for (auto& [name, space] : spaces) {
    if (space.index) space.index->forget(died_until);
  }
}

void LocalVectorStore::Rows::mark_groups(rows::GroupMask& used) const {
  for (const auto& [name, space] : spaces) {
    if (space.index) space.index->mark_groups(used);
  }
}

std::uint64_t LocalVectorStore::Rows::row_count() const {
  std::uint64_t most = 0;
  for (const auto& [name, space] : spaces) most = std::max<std::uint64_t>(most, space.index ? space.index->row_count() : 0);
  return most;
}

void LocalVectorStore::Rows::list_alive(Generation generation, std::vector<LiveRow>& out) const {
  for (const auto& [name, space] : spaces) {
    if (!space.index) continue;
    space.index->for_each_alive(generation, [&](const rows::Row& row) { out.push_back({ChunkId{row.label}, row.born}); });
  }
  for (const auto& [label, born] : bare) out.push_back({ChunkId{label}, born});
}

std::uint64_t LocalVectorStore::Rows::damaged_count() const {
  std::uint64_t count = 0;
  for (const auto& [name, space] : spaces) count += space.index ? space.index->damaged_count() : 0;
  return count;
}

std::uint64_t LocalVectorStore::Rows::heap_bytes() const {
  std::uint64_t bytes = 0;
  for (const auto& [name, space] : spaces) bytes += space.index ? space.index->heap_bytes() : 0;
  return bytes;
}

// rows  := spaces:u32 space* bare:u64 (label:i64 born:i64)*
// space := name:text distance:u32 dimension:u32 filled:u8 [index]
Result<void> LocalVectorStore::Rows::save(ByteSink& sink) const {
  FOOTNOTE_CHECK(sink.put(static_cast<std::uint32_t>(spaces.size())));
  for (const auto& [name, space] : spaces) {
    FOOTNOTE_CHECK(sink.put_text(name));
    FOOTNOTE_CHECK(sink.put(static_cast<std::uint32_t>(space.distance)));
    FOOTNOTE_CHECK(sink.put(static_cast<std::uint32_t>(space.dimension)));
    FOOTNOTE_CHECK(sink.put(static_cast<std::uint8_t>(space.index ? 1 : 0)));
    if (space.index) FOOTNOTE_CHECK(space.index->save(sink));
  }
  FOOTNOTE_CHECK(sink.put(static_cast<std::uint64_t>(bare.size())));
  for (const auto& [label, born] : bare) {
    FOOTNOTE_CHECK(sink.put(label));
    FOOTNOTE_CHECK(sink.put(born));
  }
  return {};
}

Result<void> LocalVectorStore::Rows::load(ByteSource& source, const rows::RowLimits& limits) {
  FOOTNOTE_TRY(const auto count, source.take<std::uint32_t>());
  for (std::uint32_t i = 0; i < count; ++i) {
    FOOTNOTE_TRY(std::string name, source.take_text());
    Space space;
    FOOTNOTE_TRY(const auto distance, source.take<std::uint32_t>());
    if (distance > static_cast<std::uint32_t>(Distance::kManhattan)) return fail(ErrorCode::kCorrupted, "unknown distance {}", distance);
    space.distance = static_cast<Distance>(distance);
    FOOTNOTE_TRY(space.dimension, source.take<std::uint32_t>());
    FOOTNOTE_TRY(const auto filled, source.take<std::uint8_t>());
    if (filled != 0) {
      FOOTNOTE_TRY(space.index, ann::FlatIndex::load(source, limits, level));
      const bool fits = space.index->dimension() == space.dimension && space.index->metric() == metric_of(space.distance);
      if (!fits) return fail(ErrorCode::kCorrupted, "a space does not match its vectors");
    }
    if (!spaces.emplace(std::move(name), std::move(space)).second) return fail(ErrorCode::kCorrupted, "duplicate space");
  }
  FOOTNOTE_TRY(const auto bare_count, source.take<std::uint64_t>());
  for (std::uint64_t i = 0; i < bare_count; ++i) {
    FOOTNOTE_TRY(const auto label, source.take<std::int64_t>());
    FOOTNOTE_TRY(bare[label], source.take<Generation>());
  }
  return {};
}

void LocalVectorStore::Rows::seal() {
  for (auto& [name, space] : spaces) {
    if (space.index) space.index->seal();
  }
}

std::uint64_t LocalVectorStore::Rows::raw_bytes() const {
  std::uint64_t bytes = 0;
  for (const auto& [name, space] : spaces) bytes += space.index ? space.index->raw_bytes() : 0;
  return bytes;
}

Result<void> LocalVectorStore::Rows::save_raw(ByteSink& sink) const {
  for (const auto& [name, space] : spaces) {
    if (space.index) FOOTNOTE_CHECK(space.index->save_raw(sink));
  }
  return {};
}

void LocalVectorStore::Rows::attach(const RawBytes& raw) {
  const std::byte* next = raw.get();
  for (auto& [name, space] : spaces) {
    if (!space.index) continue;
    const std::uint64_t bytes = space.index->raw_bytes();
    space.index->attach(std::shared_ptr<const float>(raw, reinterpret_cast<const float*>(next)));
    next += bytes;
  }
}

LocalVectorStore::LocalVectorStore(cpu::CpuLevel level, VectorBudget budget, HelperThreads* helpers)
    : budget_(std::move(budget)), helpers_(helpers), corpora_(Rows{.level = level}), save_at_bytes_(budget_.unsaved_bytes_max) {}

Result<Generation> LocalVectorStore::generation(const CallContext& call, CorpusId corpus) const {
  FOOTNOTE_CHECK(call.check());
  return corpora_.generation(corpus);
}

/// Creates missing spaces of these changes, and checks that existing ones have not changed.
Result<void> LocalVectorStore::add_spaces(const IndexChanges& changes, Rows& rows) {
  const auto add = [&](const std::string& name, std::size_t dimension, Distance distance) -> Result<void> {
    Space& space = rows.spaces.try_emplace(name, Space{.distance = distance, .dimension = dimension}).first->second;
    const bool same = space.distance == distance && (dimension == 0 || space.dimension == dimension);
    if (!same)
      return fail(ErrorCode::kFailedPrecondition, "the distance or dimension of space '{}' has changed; drop the index and apply from 0",
                  name);
    FOOTNOTE_TRY(space.dimension, common_dimension(name, space.dimension, changes));
    return {};
  };
  FOOTNOTE_CHECK(add("", 0, changes.distance));
  for (const NamedSpace& named : changes.named_spaces) {
    const bool sound =
        !named.name.empty() && named.dimension > 0 && static_cast<std::size_t>(named.dimension) <= ann::FlatIndex::kDimensionMax;
    if (!sound) return fail(ErrorCode::kInvalidArgument, "space '{}' of dimension {} is invalid", named.name, named.dimension);
    FOOTNOTE_CHECK(add(named.name, static_cast<std::size_t>(named.dimension), named.distance));
  }
  for (const IndexRow& row : changes.added) {
    for (const auto& [name, vectors] : row.named_vectors) {
      if (name.empty() || rows.find(name) == nullptr) {
        return fail(ErrorCode::kInvalidArgument, "chunk {} has vectors in a space '{}' that the corpus does not have", row.chunk.value,
                    name);
      }
    }
  }
  return {};
}

Result<void> LocalVectorStore::change(const IndexChanges& changes, Rows& rows, DocumentTableWriter& documents) {
  FOOTNOTE_CHECK(add_spaces(changes, rows));
  std::map<std::int64_t, Generation> without;
  for (const IndexRow& row : changes.added) without[row.chunk.value] = row.born;
  for (auto& [name, space] : rows.spaces) {
    if (space.dimension == 0) continue;
    ComparedVectors compared(space.distance);
    std::vector<ann::FlatEntry> entries;
    entries.reserve(changes.added.size());
    for (const IndexRow& row : changes.added) {
      ann::FlatEntry entry;
      for (const auto& vector : vectors_of(row, name)) {
        if (const auto view = compared.view(vector); !view.empty()) {
          entry.vectors.push_back(view);
        } else {
          log(LogLevel::kWarn, "vectors", "skipped a zero or non-finite vector", {{"chunk", row.chunk.value}});
        }
      }
      if (entry.vectors.empty()) continue;
      without.erase(row.chunk.value);
      entry.row = {.label = row.chunk.value, .group = documents.slot_for(row), .born = row.born};
      entries.push_back(std::move(entry));
    }
    if (!space.index && entries.empty()) continue;
    if (!space.index) space.index.emplace(space.dimension, metric_of(space.distance), rows.level);
    space.index->apply(entries, deaths_of(changes));
  }
  for (const auto& [label, born] : without) rows.bare.insert_or_assign(label, born);
  for (const IndexRemoval& removal : changes.removed) {
    const auto found = rows.bare.find(removal.chunk.value);
    if (found != rows.bare.end() && found->second < removal.died) rows.bare.erase(found);
  }
  return {};
}

Result<void> LocalVectorStore::apply(const CallContext& call, CorpusId corpus, const IndexChanges& changes) {
  FOOTNOTE_CHECK(call.check());
  FOOTNOTE_CHECK(
      corpora_.apply(corpus, changes, [&](Rows& rows, DocumentTableWriter& documents) { return change(changes, rows, documents); }));
  keep_to_budget(call);
  return {};
}

std::uint64_t LocalVectorStore::unsaved_bytes() const {
  std::uint64_t bytes = 0;
  corpora_.for_each([&](CorpusId, const auto& state) { bytes += state.rows.heap_bytes(); });
  return bytes;
}

void LocalVectorStore::keep_to_budget(const CallContext& call) {
  if (!budget_.save || unsaved_bytes() <= save_at_bytes_.load(std::memory_order_relaxed)) return;
  CorpusId fullest;
  std::uint64_t most = 0;
  corpora_.for_each([&](CorpusId corpus, const auto& state) {
    const std::uint64_t bytes = state.rows.heap_bytes();
    if (bytes > most) most = bytes, fullest = corpus;
  });
  budget_.save(call, fullest);
  // A failed save, as on a full disk, is not retried at every step.
  const std::uint64_t left = unsaved_bytes();
  const std::uint64_t max = budget_.unsaved_bytes_max;
  save_at_bytes_.store(left <= max ? max : left + max, std::memory_order_relaxed);
}

Result<void> LocalVectorStore::forget(const CallContext& call, CorpusId corpus, Generation died_until) {
  FOOTNOTE_CHECK(call.check());
  corpora_.forget(corpus, died_until);
  return {};
}

Result<void> LocalVectorStore::drop(const CallContext& call, CorpusId corpus) {
  FOOTNOTE_CHECK(call.check());
  corpora_.drop(corpus);
  const MutexLock lock(mutex_);
  damage_logged_.erase(corpus);
  return {};
}

Result<void> LocalVectorStore::load(IndexFileReader& file) {
  FOOTNOTE_CHECK(corpora_.load(file));
  const MutexLock lock(mutex_);
  damage_logged_.erase(file.head().corpus);
  return {};
}

bool LocalVectorStore::is_damaged(CorpusId corpus) const {
  const auto state = corpora_.newest(corpus);
  return state != nullptr && state->rows.damaged_count() > 0;
}

Result<void> LocalVectorStore::check(CorpusId corpus) const {
  const auto state = corpora_.newest(corpus);
  if (state == nullptr) return {};
  std::uint64_t damaged = 0;
  for (const auto& [name, space] : state->rows.spaces) damaged += space.index ? space.index->count_damaged() : 0;
  if (damaged == 0) return {};
  return fail(ErrorCode::kCorrupted, "it is damaged: {} of its vectors fail their checksums", damaged);
}

void LocalVectorStore::log_damage(CorpusId corpus, std::uint64_t vectors) const {
  if (vectors == 0) return;
  const MutexLock lock(mutex_);
  if (!damage_logged_.insert(corpus).second) return;
  log(LogLevel::kWarn, "vectors", "an index file is damaged; rows with a failed checksum are scored by their remaining data",
      {{"corpus", corpus.value}});
}

Result<std::vector<ScoredChunk>> LocalVectorStore::search(const CallContext& call, const VectorQuery& query) const {
  FOOTNOTE_CHECK(call.check());
  FOOTNOTE_TRY(const auto state, corpora_.state_at(query.corpus, query.generation));
  const Space* const space = state->rows.find(query.space);
  if (space == nullptr && !query.space.empty()) return fail(ErrorCode::kNotFound, "the corpus has no vector space '{}'", query.space);
  if (space == nullptr || space->dimension == 0) return std::vector<ScoredChunk>{};
  FOOTNOTE_CHECK(check_dimension(space->dimension, query.vector.size()));
  ComparedVectors compared(space->distance);
  const auto vector = compared.view(query.vector);
  if (vector.empty()) return fail(ErrorCode::kInvalidArgument, "the query's vector has no direction");
  if (!space->index) return std::vector<ScoredChunk>{};
  const FilteredRows filtered(state->documents, query.filter);
  ann::ScanReport report;
  const ann::FlatQuery asked{
      .vector = vector, .generation = query.generation, .limit = query.limit, .filter = filtered.rows(), .helpers = helpers_};
  const auto found = space->index->search(asked, &report);
  log_damage(query.corpus, space->index->damaged_count());
  if (query.report != nullptr) *query.report = {to_string(report.plan), report.scanned, report.rescored};
  std::vector<ScoredChunk> out;
  out.reserve(found.size());
  for (const auto& hit : found) out.push_back({ChunkId{hit.label}, hit.score});
  return out;
}

Result<std::vector<double>> LocalVectorStore::score(const CallContext& call, const VectorQuery& query,
                                                    std::span<const ChunkId> chunks) const {
  FOOTNOTE_CHECK(call.check());
  FOOTNOTE_TRY(const auto state, corpora_.state_at(query.corpus, query.generation));
  const Space* const space = state->rows.find(query.space);
  if (space == nullptr && !query.space.empty()) return fail(ErrorCode::kNotFound, "the corpus has no vector space '{}'", query.space);
  if (space == nullptr || space->dimension == 0) return std::vector<double>(chunks.size(), 0.0);
  FOOTNOTE_CHECK(check_dimension(space->dimension, query.vector.size()));
  ComparedVectors compared(space->distance);
  const auto vector = compared.view(query.vector);
  if (vector.empty()) return fail(ErrorCode::kInvalidArgument, "the query's vector has no direction");
  std::vector<double> out(chunks.size(), score_of_none(space->distance));
  if (!space->index) return out;
  std::vector<std::int64_t> labels;
  labels.reserve(chunks.size());
  for (const ChunkId chunk : chunks) labels.push_back(chunk.value);
  const auto scores = space->index->score(vector, query.generation, labels, helpers_);
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = scores[i] ? *scores[i] : out[i];
  log_damage(query.corpus, space->index->damaged_count());
  return out;
}

}  // namespace footnote
