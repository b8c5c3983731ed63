#include "points/point_search.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "points/answer_points.h"

namespace footnote::points {

namespace {

/// To build groups, fetch this many times the wanted hits, and then more until there are enough groups.
constexpr std::size_t kGroupFactor = 4;

/// The fixed cost of a search in steps, and how many vector comparisons cost one step.
constexpr std::size_t kStepsPerSearch = 1'000;
constexpr std::size_t kVectorsPerStep = 4;
/// Parsing this many bytes of a payload costs one step.
constexpr std::size_t kPayloadBytesPerStep = 256;

std::size_t steps_to_read(const PointView& point) { return 1 + point.payload.size() / kPayloadBytesPerStep; }

/// The result of one part of a query, best first.
struct Found {
  std::vector<ScoredChunk> chunks;
  bool counts_down = false;
};

std::vector<ChunkId> ids_of(const std::vector<ScoredChunk>& chunks) {
  std::vector<ChunkId> out;
  out.reserve(chunks.size());
  for (const ScoredChunk& chunk : chunks) out.push_back(chunk.chunk);
  return out;
}

void cut(std::vector<ScoredChunk>& chunks, const PointQuery& query, bool down) {
  if (query.score_threshold) {
    std::erase_if(chunks, [&](const ScoredChunk& chunk) {
      return down ? chunk.score > *query.score_threshold : chunk.score < *query.score_threshold;
    });
  }
  chunks.erase(chunks.begin(), chunks.begin() + static_cast<std::ptrdiff_t>(std::min(query.offset, chunks.size())));
  if (chunks.size() > query.limit) chunks.resize(query.limit);
}

std::optional<double> order_value(const Json& value) {
  if (value.is_number()) return value.to_number<double>();
  if (!value.is_string()) return std::nullopt;
  const auto time = parse_rfc3339(value.get_string());
  return time ? std::optional(static_cast<double>(time->time_since_epoch().count())) : std::nullopt;
}

}  // namespace

Result<SpaceShape> shape_of(const Corpus& corpus, std::string_view space) {
  if (space.empty() && has_own_space(corpus)) return SpaceShape{corpus.space.dimension, corpus.space.distance};
  const auto found = std::ranges::find(corpus.named_spaces, space, &NamedSpace::name);
  if (found != corpus.named_spaces.end()) return SpaceShape{found->dimension, found->distance};
  std::string names;
  for (const NamedSpace& known : corpus.named_spaces) names += (names.empty() ? "" : ", ") + known.name;
  return fail_field(ErrorCode::kInvalidArgument, "using", "Not existing vector name error: '{}'; collection '{}' has {}", space,
                    corpus.name, names.empty() ? std::string("one vector without a name") : names);
}

/// One query on one generation.
class PointSearch::Run {
 public:
  Run(const PointSearch& search, const CallContext& call, const Corpus& corpus, Generation generation, Work& work)
      : search_(search), call_(call), corpus_(corpus), generation_(generation), work_(work) {}

  Result<Found> run(const PointQuery& query) {
    FOOTNOTE_CHECK(call_.check());
    FOOTNOTE_CHECK(work_.spend(1));
    std::vector<Found> lists;
    for (const PointQuery& part : query.prefetch) {
      FOOTNOTE_TRY(Found found, run(part));
      lists.push_back(std::move(found));
    }
    FOOTNOTE_TRY(Filter filter, filter_of(query, lists));
    FOOTNOTE_TRY(Found found, std::visit([&](const auto& what) { return find(what, query, filter, lists); }, query.what));
    cut(found.chunks, query, found.counts_down);
    return found;
  }

 private:
  /// The chunks that the query may return; null `chunks` means all.
  Result<Filter> filter_of(const PointQuery& query, const std::vector<Found>& lists) {
    Filter out;
    if (query.filter && !query.filter->conditions.empty()) {
      FOOTNOTE_TRY(out.chunks, search_.matcher_.matching(call_, corpus_.id, generation_, *query.filter, work_));
    }
    if (lists.empty()) return out;
    std::set<ChunkId> fetched;
    for (const Found& list : lists) {
      for (const ScoredChunk& chunk : list.chunks) {
        if (names_chunk(out, chunk.chunk)) fetched.insert(chunk.chunk);
      }
    }
    out.chunks = std::make_shared<const std::vector<ChunkId>>(fetched.begin(), fetched.end());
    return out;
  }

  Result<Found> find(const AllPoints&, const PointQuery& query, const Filter& filter, const std::vector<Found>&) {
    std::vector<std::pair<PointId, ChunkId>> all;
    FOOTNOTE_CHECK(search_.store_.visit(call_, corpus_.id, generation_, filter.chunks.get(), [&](const PointView& point) -> Result<void> {
      all.emplace_back(point.id, point.chunk);
      return work_.spend(1);
    }));
    const std::size_t wanted = std::min(all.size(), query.offset + query.limit);
    std::ranges::partial_sort(all, all.begin() + static_cast<std::ptrdiff_t>(wanted));
    Found out;
    for (std::size_t i = 0; i < wanted; ++i) out.chunks.push_back({all[i].second, 0});
    return out;
  }

  Result<Found> find(const Nearest& nearest, const PointQuery& query, Filter filter, const std::vector<Found>&) {
    FOOTNOTE_TRY(const SpaceShape shape, shape_of(corpus_, query.space));
    FOOTNOTE_TRY(const std::vector<float> vector, vector_of(nearest, query.space));
    if (vector.size() != static_cast<std::size_t>(shape.dimension)) {
      return fail_field(ErrorCode::kInvalidArgument, "vector", "Vector dimension error: expected dim: {}, got {}", shape.dimension,
                        vector.size());
    }
    Found out{.chunks = {}, .counts_down = counts_down(shape.distance)};
    if (generation_ == 0 || (filter.chunks && filter.chunks->empty())) return out;
    const std::optional<ChunkId> self = nearest_self_;
    VectorQuery wanted{.corpus = corpus_.id,
                       .generation = generation_,
                       .vector = vector,
                       .limit = query.offset + query.limit + (self ? 1 : 0),
                       .filter = filter.empty() ? nullptr : &filter,
                       .space = query.space};
    VectorSearchReport report;
    wanted.report = &report;
    FOOTNOTE_TRY(out.chunks, search_.vectors_.search(call_, wanted));
    FOOTNOTE_CHECK(work_.spend(kStepsPerSearch + report.scanned / kVectorsPerStep + report.rescored));
    if (self) std::erase_if(out.chunks, [&](const ScoredChunk& chunk) { return chunk.chunk == *self; });
    if (out.counts_down) {
      for (ScoredChunk& chunk : out.chunks) chunk.score = std::abs(chunk.score);
    }
    return out;
  }

  Result<Found> find(const FuseLists& fusion, const PointQuery& query, const Filter& filter, const std::vector<Found>& lists) {
    std::vector<std::vector<ScoredChunk>> upward;
    for (const Found& list : lists) {
      auto& scores = upward.emplace_back(list.chunks);
      if (list.counts_down) {
        for (ScoredChunk& chunk : scores) chunk.score = -chunk.score;
      }
    }
    Found out{.chunks = fuse(fusion.fusion, upward, fusion.rank_constant, fusion.weights), .counts_down = false};
    if (query.filter) std::erase_if(out.chunks, [&](const ScoredChunk& chunk) { return !names_chunk(filter, chunk.chunk); });
    return out;
  }

  Result<Found> find(const OrderBy& order, const PointQuery&, const Filter& filter, const std::vector<Found>&) {
    Found out{.chunks = {}, .counts_down = !order.descending};
    FOOTNOTE_CHECK(search_.store_.visit(call_, corpus_.id, generation_, filter.chunks.get(), [&](const PointView& point) -> Result<void> {
      FOOTNOTE_TRY(const Json payload, parse_json(point.payload));
      std::optional<double> best;
      visit_elements(payload.get_object(), order.path, [&](const Json& value) {
        const auto number = order_value(value);
        if (!number) return;
        if (order.start_from && (order.descending ? *number > *order.start_from : *number < *order.start_from)) return;
        if (!best || (order.descending ? *number > *best : *number < *best)) best = number;
      });
      if (best) out.chunks.push_back({point.chunk, *best});
      return work_.spend(steps_to_read(point));
    }));
    std::ranges::sort(out.chunks, [&](const ScoredChunk& a, const ScoredChunk& b) {
      if (a.score != b.score) return order.descending ? a.score > b.score : a.score < b.score;
      return a.chunk < b.chunk;
    });
    return out;
  }

  Result<std::vector<float>> vector_of(const Nearest& nearest, const std::string& space) {
    nearest_self_.reset();
    if (const auto* given = std::get_if<std::vector<float>>(&nearest.to)) return *given;
    const PointId ids[] = {std::get<PointId>(nearest.to)};
    FOOTNOTE_TRY(auto found, search_.store_.points(call_, corpus_.id, ids, PointVectors::kRead));
    if (found.empty()) return fail_field(ErrorCode::kNotFound, "query", "No point with id {} found", to_string(ids[0]));
    nearest_self_ = found[0].chunk;
    const auto named = found[0].named_vectors.find(space);
    std::vector<float> vector = space.empty() ? std::move(found[0].vector)
                                              : (named == found[0].named_vectors.end() ? std::vector<float>{} : std::move(named->second));
    if (vector.empty()) return fail_field(ErrorCode::kInvalidArgument, "query", "point {} has no such vector", to_string(ids[0]));
    return vector;
  }

  const PointSearch& search_;
  const CallContext& call_;
  const Corpus& corpus_;
  const Generation generation_;
  Work& work_;
  std::optional<ChunkId> nearest_self_;
};

Result<std::vector<ScoredPoint>> PointSearch::query(const CallContext& call, const Corpus& corpus, const PointQuery& query,
                                                    PointVectors with, Work& work) const {
  FOOTNOTE_TRY(const Generation generation, vectors_.generation(call, corpus.id));
  FOOTNOTE_TRY(const Found found, Run(*this, call, corpus, generation, work).run(query));
  FOOTNOTE_TRY(auto points, read_points(store_, call, corpus.id, ids_of(found.chunks), with, work));
  std::vector<ScoredPoint> out;
  out.reserve(points.size());
  std::size_t next = 0;
  for (const ScoredChunk& chunk : found.chunks) {
    // The store omits points deleted since.
    if (next < points.size() && points[next].chunk == chunk.chunk) out.push_back({std::move(points[next++]), chunk.score});
  }
  return out;
}

Result<std::vector<PointGroup>> PointSearch::groups(const CallContext& call, const Corpus& corpus, PointQuery query,
                                                    const JsonPath& group_by, std::size_t group_size, PointVectors with, Work& work) const {
  const std::size_t wanted = query.limit;
  for (std::size_t looked_at = wanted * group_size * kGroupFactor;; looked_at *= kGroupFactor) {
    query.limit = looked_at;
    FOOTNOTE_TRY(const auto found, this->query(call, corpus, query, with, work));
    std::vector<PointGroup> groups;
    std::map<PayloadKey, std::size_t> places;
    bool full = false;
    for (const ScoredPoint& hit : found) {
      FOOTNOTE_TRY(const Json payload, parse_json(hit.point.payload));
      Result<void> held;
      visit_elements(payload.get_object(), group_by, [&](const Json& value) {
        const auto key = key_of(value);
        if (!key || std::holds_alternative<bool>(*key) || !held) return;
        held = work.hold(held_bytes(hit.point));  // Each group has its own copy.
        const auto place = places.find(*key);
        if (place == places.end()) {
          if (groups.size() == wanted) return;
          places.emplace(*key, groups.size());
          groups.push_back({*key, {hit}});
        } else if (groups[place->second].hits.size() < group_size) {
          groups[place->second].hits.push_back(hit);
        }
      });
      FOOTNOTE_CHECK(held);
    }
    full = groups.size() == wanted && std::ranges::all_of(groups, [&](const PointGroup& group) { return group.hits.size() == group_size; });
    if (full || found.size() < looked_at) return groups;
  }
}

Result<std::vector<Point>> PointSearch::scroll(const CallContext& call, const Corpus& corpus, const PointFilter* filter,
                                               const std::optional<PointId>& from, std::size_t limit, PointVectors with, Work& work) const {
  if (filter == nullptr || filter->conditions.empty()) return scroll_points(store_, call, corpus.id, from, limit, with, work);
  FOOTNOTE_TRY(const ChunkList chunks, matching(call, corpus, *filter, work));
  std::vector<std::pair<PointId, ChunkId>> ids;
  FOOTNOTE_CHECK(store_.visit(call, corpus.id, corpus.generation, chunks.get(), [&](const PointView& point) -> Result<void> {
    if (!from || point.id >= *from) ids.emplace_back(point.id, point.chunk);
    return work.spend(1);
  }));
  const std::size_t wanted = std::min(limit, ids.size());
  std::ranges::partial_sort(ids, ids.begin() + static_cast<std::ptrdiff_t>(wanted));
  std::vector<ChunkId> page;
  page.reserve(wanted);
  for (std::size_t i = 0; i < wanted; ++i) page.push_back(ids[i].second);
  return read_points(store_, call, corpus.id, page, with, work);
}

Result<std::size_t> PointSearch::count(const CallContext& call, const Corpus& corpus, const PointFilter& filter, Work& work) const {
  FOOTNOTE_TRY(const ChunkList chunks, matching(call, corpus, filter, work));
  return chunks->size();
}

Result<std::vector<FacetHit>> PointSearch::facet(const CallContext& call, const Corpus& corpus, const JsonPath& key,
                                                 const PointFilter* filter, std::size_t limit, Work& work) const {
  ChunkList among;
  if (filter != nullptr && !filter->conditions.empty()) {
    FOOTNOTE_TRY(among, matching(call, corpus, *filter, work));
  }
  std::map<PayloadKey, std::size_t> counts;
  FOOTNOTE_CHECK(store_.visit(call, corpus.id, corpus.generation, among.get(), [&](const PointView& point) -> Result<void> {
    FOOTNOTE_TRY(const Json payload, parse_json(point.payload));
    std::set<PayloadKey> own;
    visit_elements(payload.get_object(), key, [&](const Json& value) {
      if (auto found = key_of(value)) own.insert(*std::move(found));
    });
    for (const PayloadKey& value : own) {
      const bool is_new = ++counts[value] == 1;
      if (const auto* text = std::get_if<std::string>(&value); is_new && text != nullptr) FOOTNOTE_CHECK(work.hold(text->size()));
    }
    return work.spend(steps_to_read(point) + own.size());
  }));
  std::vector<FacetHit> out;
  out.reserve(counts.size());
  for (const auto& [value, count] : counts) out.push_back({value, count});
  std::ranges::stable_sort(out, std::ranges::greater{}, &FacetHit::count);
  if (out.size() > limit) out.resize(limit);
  return out;
}

}  // namespace footnote::points
