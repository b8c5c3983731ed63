#include "points/point_search.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <map>
#include <random>
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
  const auto time = parse_any_time(value.get_string());
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

  /// `outer`: the chunks that the filters around this query allow; null means all.
  Result<Found> run(const PointQuery& query, const ChunkList& outer = nullptr) {
    FOOTNOTE_CHECK(call_.check());
    FOOTNOTE_CHECK(work_.spend(1));
    FOOTNOTE_TRY(const ChunkList allowed, allowed_by(query, outer));
    std::vector<Found> lists;
    for (const PointQuery& part : query.prefetch) {
      FOOTNOTE_TRY(Found found, run(part, allowed));
      lists.push_back(std::move(found));
    }
    const Filter filter{.chunks = lists.empty() ? allowed : fetched(lists)};
    examples_.clear();
    FOOTNOTE_TRY(Found found, std::visit([&](const auto& what) { return find(what, query, filter, lists); }, query.what));
    cut(found.chunks, query, found.counts_down);
    return found;
  }

 private:
  Result<ChunkList> allowed_by(const PointQuery& query, const ChunkList& outer) {
    if (!query.filter || query.filter->conditions.empty()) return outer;
    FOOTNOTE_TRY(ChunkList own, search_.matcher_.matching(call_, corpus_.id, generation_, *query.filter, work_));
    if (!outer) return own;
    std::vector<ChunkId> both;
    std::ranges::set_intersection(*own, *outer, std::back_inserter(both));
    return std::make_shared<const std::vector<ChunkId>>(std::move(both));
  }

  static ChunkList fetched(const std::vector<Found>& lists) {
    std::set<ChunkId> out;
    for (const Found& list : lists) {
      for (const ScoredChunk& chunk : list.chunks) out.insert(chunk.chunk);
    }
    return std::make_shared<const std::vector<ChunkId>>(out.begin(), out.end());
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

  Result<Found> find(const Sample&, const PointQuery& query, const Filter& filter, const std::vector<Found>&) {
    Found out;
    FOOTNOTE_CHECK(search_.store_.visit(call_, corpus_.id, generation_, filter.chunks.get(), [&](const PointView& point) -> Result<void> {
      out.chunks.push_back({point.chunk, 0});
      return work_.spend(1);
    }));
    std::vector<ScoredChunk> some;
    std::ranges::sample(out.chunks, std::back_inserter(some), static_cast<std::ptrdiff_t>(query.offset + query.limit),
                        std::mt19937_64(std::random_device{}()));
    return Found{.chunks = std::move(some)};
  }

  Result<Found> find(const Nearest& nearest, const PointQuery& query, const Filter& filter, const std::vector<Found>&) {
    FOOTNOTE_TRY(const SpaceShape shape, shape_of(corpus_, query.space));
    FOOTNOTE_TRY(const std::vector<float> vector, vector_of(nearest.to, query, shape));
    if (!nearest.diversify) return nearest_to(vector, query, shape, filter, query.offset + query.limit);
    const std::size_t wanted = query.offset + query.limit;
    FOOTNOTE_TRY(Found found, nearest_to(vector, query, shape, filter, nearest.diversify->candidates.value_or(wanted)));
    return diversify(std::move(found), *nearest.diversify, query, shape);
  }

  Result<Found> find(const Recommend& recommend, const PointQuery& query, const Filter& filter, const std::vector<Found>&) {
    FOOTNOTE_TRY(const SpaceShape shape, shape_of(corpus_, query.space));
    FOOTNOTE_TRY(const auto positive, vectors_of(recommend.positive, query, shape));
    FOOTNOTE_TRY(const auto negative, vectors_of(recommend.negative, query, shape));
    if (recommend.strategy == Recommend::Strategy::kAverageVector) {
      return nearest_to(average_vector(positive, negative), query, shape, filter, query.offset + query.limit);
    }
    const auto score = recommend.strategy == Recommend::Strategy::kBestScore ? best_score : sum_score;
    std::vector<std::vector<float>> all = positive;
    all.insert(all.end(), negative.begin(), negative.end());
    return by_examples(all, query, shape, filter, [&](std::span<const double> similarities) {
      return score(similarities.first(positive.size()), similarities.subspan(positive.size()));
    });
  }

  Result<Found> find(const Discover& discover, const PointQuery& query, const Filter& filter, const std::vector<Found>&) {
    FOOTNOTE_TRY(const SpaceShape shape, shape_of(corpus_, query.space));
    std::vector<Example> examples;
    for (const ContextPair& pair : discover.context) examples.push_back(pair.positive);
    for (const ContextPair& pair : discover.context) examples.push_back(pair.negative);
    if (discover.target) examples.push_back(*discover.target);
    FOOTNOTE_TRY(const auto all, vectors_of(examples, query, shape));
    const std::size_t pairs = discover.context.size();
    return by_examples(all, query, shape, filter, [&](std::span<const double> similarities) {
      const auto target = discover.target ? std::optional(similarities.back()) : std::nullopt;
      return discovery_score(target, similarities.first(pairs), similarities.subspan(pairs, pairs));
    });
  }

  Result<Found> nearest_to(const std::vector<float>& vector, const PointQuery& query, const SpaceShape& shape, const Filter& filter,
                           std::size_t limit) {
    Found out{.chunks = {}, .counts_down = counts_down(shape.distance)};
    if (generation_ == 0 || (filter.chunks && filter.chunks->empty())) return out;
    VectorQuery wanted{.corpus = corpus_.id,
                       .generation = generation_,
                       .vector = vector,
                       .limit = limit + examples_.size(),
                       .filter = filter.empty() ? nullptr : &filter,
                       .space = query.space};
    VectorSearchReport report;
    wanted.report = &report;
    FOOTNOTE_TRY(out.chunks, search_.vectors_.search(call_, wanted));
    FOOTNOTE_CHECK(work_.spend(kStepsPerSearch + report.scanned / kVectorsPerStep + report.rescored));
    std::erase_if(out.chunks, [&](const ScoredChunk& chunk) { return examples_.contains(chunk.chunk); });
    if (out.counts_down) {
      for (ScoredChunk& chunk : out.chunks) chunk.score = std::abs(chunk.score);
    }
    return out;
  }

  Result<Found> diversify(Found found, const Diversify& wanted, const PointQuery& query, const SpaceShape& shape) {
    FOOTNOTE_TRY(auto points, read_points(search_.store_, call_, corpus_.id, ids_of(found.chunks), PointVectors::kRead, work_));
    std::map<ChunkId, std::vector<float>> vectors;
    for (Point& point : points) {
      vectors[point.chunk] = query.space.empty() ? std::move(point.vector) : std::move(point.named_vectors[query.space]);
    }
    std::erase_if(found.chunks, [&](const ScoredChunk& chunk) {  // deleted since
      return vectors[chunk.chunk].size() != static_cast<std::size_t>(shape.dimension);
    });
    std::vector<double> relevance;
    for (const ScoredChunk& chunk : found.chunks) relevance.push_back(similarity_of(shape.distance, chunk.score));
    const std::size_t limit = query.offset + query.limit;
    FOOTNOTE_CHECK(work_.spend(relevance.size() * std::min(limit, relevance.size()) / kVectorsPerStep));
    const auto order = diversified(relevance, wanted.diversity, limit, [&](std::size_t i, std::size_t j) {
      return similarity_between(shape.distance, vectors[found.chunks[i].chunk], vectors[found.chunks[j].chunk]);
    });
    Found out{.chunks = {}, .counts_down = found.counts_down};
    for (const std::size_t i : order) out.chunks.push_back(found.chunks[i]);
    return out;
  }

  /// Scores every allowed point by its similarities to the examples.
  Result<Found> by_examples(const std::vector<std::vector<float>>& examples, const PointQuery& query, const SpaceShape& shape,
                            const Filter& filter, const std::function<double(std::span<const double>)>& score) {
    Found out;
    if (generation_ == 0) return out;
    std::vector<ChunkId> candidates;
    FOOTNOTE_CHECK(search_.store_.visit(call_, corpus_.id, generation_, filter.chunks.get(), [&](const PointView& point) -> Result<void> {
      const bool has_vector = std::ranges::find(point.vectors, query.space) != point.vectors.end();
      if (has_vector && !examples_.contains(point.chunk)) candidates.push_back(point.chunk);
      return work_.spend(1);
    }));
    FOOTNOTE_CHECK(work_.spend(candidates.size() * examples.size() / kVectorsPerStep));
    std::vector<std::vector<double>> rows(candidates.size());
    for (const std::vector<float>& example : examples) {
      const VectorQuery wanted{.corpus = corpus_.id, .generation = generation_, .vector = example, .space = query.space};
      FOOTNOTE_TRY(const auto scores, search_.vectors_.score(call_, wanted, candidates));
      for (std::size_t i = 0; i < rows.size(); ++i) rows[i].push_back(similarity_of(shape.distance, scores[i]));
    }
    for (std::size_t i = 0; i < rows.size(); ++i) out.chunks.push_back({candidates[i], score(rows[i])});
    std::ranges::sort(
        out.chunks, [](const ScoredChunk& a, const ScoredChunk& b) { return a.score != b.score ? a.score > b.score : a.chunk < b.chunk; });
    return out;
  }

  Result<Found> find(const FuseLists& fusion, const PointQuery&, const Filter&, const std::vector<Found>& lists) {
    std::vector<std::vector<ScoredChunk>> upward;
    for (const Found& list : lists) {
      auto& scores = upward.emplace_back(list.chunks);
      if (list.counts_down) {
        for (ScoredChunk& chunk : scores) chunk.score = -chunk.score;
      }
    }
    Found out{.chunks = fuse(fusion.fusion, upward, fusion.rank_constant, fusion.weights), .counts_down = false};
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

  Result<std::vector<std::vector<float>>> vectors_of(std::span<const Example> examples, const PointQuery& query, const SpaceShape& shape) {
    std::vector<std::vector<float>> out;
    for (const Example& example : examples) {
      FOOTNOTE_TRY(auto vector, vector_of(example, query, shape));
      out.push_back(std::move(vector));
    }
    return out;
  }

  Result<std::vector<float>> vector_of(const Example& example, const PointQuery& query, const SpaceShape& shape) {
    const auto* given = std::get_if<std::vector<float>>(&example);
    std::vector<float> vector;
    if (given == nullptr) {
      FOOTNOTE_TRY(vector, looked_up(std::get<PointId>(example), query));
    } else {
      vector = *given;
    }
    if (vector.size() == static_cast<std::size_t>(shape.dimension)) return vector;
    return fail_field(ErrorCode::kInvalidArgument, "vector", "Vector dimension error: expected dim: {}, got {}", shape.dimension,
                      vector.size());
  }

  Result<std::vector<float>> looked_up(const PointId& id, const PointQuery& query) {
    CorpusId corpus = corpus_.id;
    std::string space = query.space;
    if (query.lookup_from) {
      FOOTNOTE_TRY(const Collection other, search_.store_.collection(call_, corpus_.workspace, query.lookup_from->collection));
      corpus = other.corpus.id;
      space = query.lookup_from->space.value_or(space);
      FOOTNOTE_CHECK(shape_of(other.corpus, space));
    }
    FOOTNOTE_TRY(auto found, search_.store_.points(call_, corpus, std::span(&id, 1), PointVectors::kRead));
    if (found.empty()) return fail_field(ErrorCode::kNotFound, "query", "No point with id {} found", to_string(id));
    if (!query.lookup_from) examples_.insert(found[0].chunk);
    std::vector<float> vector = space.empty() ? std::move(found[0].vector) : std::move(found[0].named_vectors[space]);
    if (vector.empty()) return fail_field(ErrorCode::kInvalidArgument, "query", "point {} has no such vector", to_string(id));
    return vector;
  }

  const PointSearch& search_;
  const CallContext& call_;
  const Corpus& corpus_;
  const Generation generation_;
  Work& work_;
  std::set<ChunkId> examples_;  ///< Points of this collection that are examples: never results.
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
