#include "api/qdrant_wire.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

namespace footnote::api {

namespace {

using qdrant::find;
using qdrant::wrong;

std::string join_path(std::string_view path, std::string_view key) {
  return path.empty() ? std::string(key) : fmt::format("{}.{}", path, key);
}

Result<std::vector<JsonPath>> parse_keys(const Json& value, std::string_view path) {
  const JsonArray* list = value.if_array();
  if (list == nullptr) return wrong(path, "must be a list of keys");
  std::vector<JsonPath> out;
  for (const Json& entry : *list) {
    FOOTNOTE_TRY(JsonPath key, parse_key(entry, path));
    out.push_back(std::move(key));
  }
  return out;
}

Result<void> parse_shown_payload(const Json& value, Shown& out) {
  if (const auto* flag = value.if_bool()) {
    out.payload = *flag;
    return {};
  }
  out.payload = true;
  if (value.is_array()) {
    FOOTNOTE_TRY(out.include, parse_keys(value, "with_payload"));
    out.payload = !out.include.empty();
    return {};
  }
  const JsonObject* object = value.if_object();
  const Json* include = object == nullptr ? nullptr : object->if_contains("include");
  const Json* exclude = object == nullptr ? nullptr : object->if_contains("exclude");
  if ((include == nullptr) == (exclude == nullptr))
    return wrong("with_payload", "must be a bool, a list of keys, or {{include}} or {{exclude}}");
  auto keys = parse_keys(include != nullptr ? *include : *exclude, "with_payload");
  FOOTNOTE_CHECK(keys);
  (include != nullptr ? out.include : out.exclude) = *std::move(keys);
  if (include != nullptr && out.include.empty()) out.payload = false;
  return {};
}

Result<void> parse_shown_vectors(const Json& value, Shown& out) {
  if (const auto* flag = value.if_bool()) {
    out.vectors = *flag;
    return {};
  }
  const JsonArray* list = value.if_array();
  if (list == nullptr) return wrong("with_vector", "must be a bool or a list of names");
  for (const Json& name : *list) {
    if (!name.is_string()) return wrong("with_vector", "must be a bool or a list of names");
    out.names.emplace_back(name.get_string());
  }
  out.vectors = !out.names.empty();
  return {};
}

JsonArray render_floats(const std::vector<float>& vector) {
  JsonArray out;
  out.reserve(vector.size());
  for (const float number : vector) out.push_back(json_number(number));
  return out;
}

Json render_vectors_of(const Point& point, const Corpus& corpus, const Shown& shown) {
  if (has_own_space(corpus)) return point.vector.empty() ? Json(JsonObject{}) : Json(render_floats(point.vector));
  JsonObject out;
  for (const auto& [name, vector] : point.named_vectors) {
    if (shown.names.empty() || std::ranges::find(shown.names, name) != shown.names.end()) out[name] = render_floats(vector);
  }
  return out;
}

Result<double> number_of(const Json& value, std::string_view path) {
  if (!value.is_number()) return wrong(path, "must be a number");
  return value.to_number<double>();
}

/// Fields common to all queries: filter, limit, offset, score_threshold.
Result<points::PointQuery> parse_frame(const JsonObject& body, std::string_view path) {
  points::PointQuery out;
  if (const Json* filter = find(body, "filter")) {
    FOOTNOTE_TRY(out.filter, parse_filter(*filter, join_path(path, "filter")));
  }
  FOOTNOTE_TRY(const auto limit, optional_limit(body, "limit"));
  FOOTNOTE_TRY(const auto offset, optional_count(body, "offset", 0, kPointOffsetMax));
  out.limit = static_cast<std::size_t>(limit.value_or(10));
  out.offset = static_cast<std::size_t>(offset.value_or(0));
  if (const Json* threshold = find(body, "score_threshold")) {
    FOOTNOTE_TRY(out.score_threshold, number_of(*threshold, join_path(path, "score_threshold")));
  }
  return out;
}

Result<points::Example> parse_example(const Json& value, const std::string& path) {
  if (value.is_array()) {
    FOOTNOTE_TRY(auto vector, parse_vector(value, path));
    return points::Example{std::move(vector)};
  }
  if (value.is_object()) {
    return fail_field(ErrorCode::kUnsupported, path,
                      "'{}' must be a dense vector or the id of a point: sparse vectors and texts are not supported", path);
  }
  FOOTNOTE_TRY(const PointId id, parse_id(value, path));
  return points::Example{id};
}

/// A list of examples; empty if the key is missing.
Result<std::vector<points::Example>> parse_examples(const JsonObject& object, std::string_view key, const std::string& path) {
  const std::string at = fmt::format("{}.{}", path, key);
  const Json* value = find(object, key);
  std::vector<points::Example> out;
  if (value == nullptr) return out;
  if (!value->is_array()) return wrong(at, "must be a list of vectors or ids");
  if (value->get_array().size() > kExamplesMax) return wrong(at, "has more than {} entries", kExamplesMax);
  for (const Json& entry : value->get_array()) {
    FOOTNOTE_TRY(auto example, parse_example(entry, fmt::format("{}[{}]", at, out.size())));
    out.push_back(std::move(example));
  }
  return out;
}

Result<points::Diversify> parse_mmr(const Json& value, const std::string& path) {
  const JsonObject* object = value.if_object();
  if (object == nullptr) return wrong(path, "must be an object");
  points::Diversify out;
  if (const Json* diversity = find(*object, "diversity")) {
    FOOTNOTE_TRY(out.diversity, number_of(*diversity, path + ".diversity"));
    if (!(out.diversity >= 0 && out.diversity <= 1)) return wrong(path + ".diversity", "must be between 0 and 1");
  }
  FOOTNOTE_TRY(const auto candidates, optional_limit(*object, "candidates_limit"));
  if (candidates) out.candidates = static_cast<std::size_t>(*candidates);
  return out;
}

Result<points::Nearest> parse_nearest(const JsonObject& object, const std::string& path) {
  FOOTNOTE_TRY(auto example, parse_example(object.at("nearest"), path + ".nearest"));
  points::Nearest out{.to = std::move(example), .diversify = {}};
  if (const Json* mmr = find(object, "mmr")) {
    FOOTNOTE_TRY(out.diversify, parse_mmr(*mmr, path + ".mmr"));
  }
  return out;
}

Result<points::Recommend> parse_recommend(const Json& value, const std::string& path) {
  using Strategy = points::Recommend::Strategy;
  const JsonObject* object = value.if_object();
  if (object == nullptr) return wrong(path, "must be an object");
  points::Recommend out;
  FOOTNOTE_TRY(out.positive, parse_examples(*object, "positive", path));
  FOOTNOTE_TRY(out.negative, parse_examples(*object, "negative", path));
  if (const Json* strategy = find(*object, "strategy")) {
    constexpr std::pair<std::string_view, Strategy> kStrategies[] = {
        {"average_vector", Strategy::kAverageVector}, {"best_score", Strategy::kBestScore}, {"sum_scores", Strategy::kSumScores}};
    const std::string_view name = strategy->is_string() ? std::string_view(strategy->get_string()) : std::string_view();
    const auto* known = std::ranges::find(kStrategies, name, &std::pair<std::string_view, Strategy>::first);
    if (known == std::end(kStrategies)) return wrong(path + ".strategy", "must be average_vector, best_score or sum_scores");
    out.strategy = known->second;
  }
  if (out.positive.empty() && (out.strategy == Strategy::kAverageVector || out.negative.empty())) {
    return wrong(path + ".positive", "needs at least one example");
  }
  return out;
}

Result<std::vector<points::ContextPair>> parse_context(const Json& value, const std::string& path) {
  const JsonArray single{value};
  const JsonArray& list = value.is_array() ? value.get_array() : single;
  if (list.size() > kExamplesMax) return wrong(path, "has more than {} pairs", kExamplesMax);
  std::vector<points::ContextPair> out;
  for (const Json& entry : list) {
    const std::string at = fmt::format("{}[{}]", path, out.size());
    const JsonObject* pair = entry.if_object();
    const Json* positive = pair == nullptr ? nullptr : find(*pair, "positive");
    const Json* negative = pair == nullptr ? nullptr : find(*pair, "negative");
    if (positive == nullptr || negative == nullptr) return wrong(at, "must be {{positive, negative}}");
    FOOTNOTE_TRY(auto yes, parse_example(*positive, at + ".positive"));
    FOOTNOTE_TRY(auto no, parse_example(*negative, at + ".negative"));
    out.push_back({std::move(yes), std::move(no)});
  }
  return out;
}

/// {target?, context?}
Result<points::Discover> parse_discover(const JsonObject& object, const std::string& path) {
  points::Discover out;
  if (const Json* target = find(object, "target")) {
    FOOTNOTE_TRY(out.target, parse_example(*target, path + ".target"));
  }
  if (const Json* context = find(object, "context")) {
    FOOTNOTE_TRY(out.context, parse_context(*context, path + ".context"));
  }
  if (!out.target && out.context.empty()) return wrong(path, "needs a target or a context");
  return out;
}

Result<points::FuseLists> parse_rrf(const Json& value, const std::string& path) {
  points::FuseLists out;
  const JsonObject* object = value.if_object();
  if (object == nullptr) return wrong(path, "must be an object");
  if (const Json* k = find(*object, "k")) {
    FOOTNOTE_TRY(out.rank_constant, number_of(*k, path + ".k"));
    if (!(out.rank_constant > 0)) return wrong(path + ".k", "must be above 0");
  }
  if (const Json* weights = find(*object, "weights")) {
    if (!weights->is_array()) return wrong(path + ".weights", "must be a list of numbers");
    for (const Json& weight : weights->get_array()) {
      FOOTNOTE_TRY(const double number, number_of(weight, path + ".weights"));
      out.weights.push_back(number);
    }
  }
  return out;
}

using What = decltype(points::PointQuery::what);

Result<What> parse_what(const Json& value, const std::string& path) {
  const JsonObject* object = value.if_object();
  if (object == nullptr) {
    FOOTNOTE_TRY(auto example, parse_example(value, path));
    return What{points::Nearest{std::move(example), {}}};
  }
  if (object->contains("nearest")) {
    FOOTNOTE_TRY(auto nearest, parse_nearest(*object, path));
    return What{std::move(nearest)};
  }
  if (const Json* recommend = object->if_contains("recommend")) {
    FOOTNOTE_TRY(auto examples, parse_recommend(*recommend, path + ".recommend"));
    return What{std::move(examples)};
  }
  if (const Json* discover = object->if_contains("discover")) {
    if (!discover->is_object() || find(discover->get_object(), "target") == nullptr)
      return wrong(path + ".discover", "must be {{target, context}}");
    FOOTNOTE_TRY(auto examples, parse_discover(discover->get_object(), path + ".discover"));
    return What{std::move(examples)};
  }
  if (object->contains("context")) {
    FOOTNOTE_TRY(auto examples, parse_discover(JsonObject{{"context", object->at("context")}}, path));
    return What{std::move(examples)};
  }
  if (const Json* sample = object->if_contains("sample")) {
    if (*sample != "random") return wrong(path + ".sample", "must be random");
    return What{points::Sample{}};
  }
  if (const Json* fusion = object->if_contains("fusion")) {
    if (*fusion == "rrf") return What{points::FuseLists{}};
    if (*fusion == "dbsf") return What{points::FuseLists{.fusion = points::Fusion::kDistributions}};
    return wrong(path + ".fusion", "must be rrf or dbsf");
  }
  if (const Json* rrf = object->if_contains("rrf")) {
    FOOTNOTE_TRY(auto fusion, parse_rrf(*rrf, path + ".rrf"));
    return What{std::move(fusion)};
  }
  if (const Json* order = object->if_contains("order_by")) {
    FOOTNOTE_TRY(auto parsed, parse_order_by(*order, path + ".order_by"));
    return What{std::move(parsed)};
  }
  return fail_field(ErrorCode::kUnsupported, path,
                    "'{}' must be a vector, an id, nearest, recommend, discover, context, sample, fusion, rrf or order_by: formula, "
                    "relevance_feedback, text and sparse vectors are not supported",
                    path);
}

Result<points::LookupFrom> parse_lookup_from(const Json& value, const std::string& path) {
  const JsonObject* object = value.if_object();
  const Json* collection = object == nullptr ? nullptr : find(*object, "collection");
  if (collection == nullptr || !collection->is_string()) return wrong(path, "must be {{collection, vector?}}");
  points::LookupFrom out{.collection = std::string(collection->get_string()), .space = {}};
  if (const Json* space = find(*object, "vector")) {
    if (!space->is_string()) return wrong(path + ".vector", "must be the name of a vector");
    out.space = space->get_string();
  }
  return out;
}

/// parse_frame, and the fields of queries that name a space and points: using, lookup_from.
Result<points::PointQuery> parse_example_frame(const JsonObject& body, std::string_view path) {
  FOOTNOTE_TRY(points::PointQuery out, parse_frame(body, path));
  if (const Json* space = find(body, "using")) {
    if (!space->is_string()) return wrong(join_path(path, "using"), "must be a text");
    out.space = space->get_string();
  }
  if (const Json* lookup = find(body, "lookup_from")) {
    FOOTNOTE_TRY(out.lookup_from, parse_lookup_from(*lookup, join_path(path, "lookup_from")));
  }
  return out;
}

Result<void> check_fusion(const points::PointQuery& query, std::string_view path) {
  const auto* fusion = std::get_if<points::FuseLists>(&query.what);
  if (fusion == nullptr) {
    if (!query.prefetch.empty() && std::holds_alternative<points::AllPoints>(query.what)) {
      return wrong(join_path(path, "query"), "is required with a prefetch");
    }
    return {};
  }
  if (query.prefetch.empty()) return wrong(join_path(path, "prefetch"), "is required for a fusion");
  if (!fusion->weights.empty() && fusion->weights.size() != query.prefetch.size()) {
    return wrong(join_path(path, "query.rrf.weights"), "must have one number for each prefetch");
  }
  return {};
}

}  // namespace

http::Response render_qdrant_error(const Error& error) {
  const int usual = status_of(error);
  const int status = usual == 422 || usual == 415 ? 400 : usual;
  std::string message = shown_message(error);
  if (!error.field.empty() && message.find(error.field) == std::string::npos) message = fmt::format("{}: {}", error.field, message);
  http::Response response = http::Response::json(status, JsonObject{{"status", JsonObject{{"error", message}}}, {"time", 0.0}});
  if (status == 429 || status == 503) response.headers.set("retry-after", "1");
  return response;
}

Result<const JsonObject*> body_object(const Json& body) {
  if (const JsonObject* object = body.if_object()) return object;
  return fail(ErrorCode::kInvalidArgument, "the body must be a JSON object");
}

Result<std::optional<std::int64_t>> optional_count(const JsonObject& body, std::string_view key, std::int64_t min, std::int64_t max) {
  const Json* value = find(body, key);
  if (value == nullptr) return std::nullopt;
  if (!value->is_int64() || value->get_int64() < min || value->get_int64() > max) {
    return wrong(key, "must be a whole number between {} and {}", min, max);
  }
  return value->get_int64();
}

Result<std::optional<std::int64_t>> optional_limit(const JsonObject& body, std::string_view key) {
  FOOTNOTE_TRY(const auto limit, optional_count(body, key, 1, std::numeric_limits<std::int64_t>::max()));
  return limit ? std::optional(std::min(*limit, kPointLimitMax)) : std::nullopt;
}

Result<Shown> parse_shown(const JsonObject& body, bool payload_default) {
  Shown out{.payload = payload_default};
  if (const Json* value = find(body, "with_payload")) FOOTNOTE_CHECK(parse_shown_payload(*value, out));
  for (const std::string_view key : {"with_vector", "with_vectors"}) {
    if (const Json* value = find(body, key)) FOOTNOTE_CHECK(parse_shown_vectors(*value, out));
  }
  return out;
}

Json render_id(const PointId& id) {
  if (const auto* number = std::get_if<std::uint64_t>(&id.value)) return *number;
  return Json(to_string(id));
}

Json render_key(const PayloadKey& key) {
  return std::visit([](const auto& value) { return Json(value); }, key);
}

Result<JsonObject> render_point(const Point& point, const Corpus& corpus, const Shown& shown) {
  JsonObject out{{"id", render_id(point.id)}};
  if (shown.payload) {
    FOOTNOTE_TRY(Json payload, parse_json(point.payload));
    JsonObject& all = payload.get_object();
    if (!shown.include.empty()) all = select_paths(all, shown.include);
    if (!shown.exclude.empty()) all = drop_paths(all, shown.exclude);
    out["payload"] = std::move(payload);
  }
  if (shown.vectors) out["vector"] = render_vectors_of(point, corpus, shown);
  return out;
}

Result<JsonObject> render_scored(const points::ScoredPoint& hit, const Corpus& corpus, const Shown& shown) {
  FOOTNOTE_TRY(JsonObject out, render_point(hit.point, corpus, shown));
  out["version"] = hit.point.version;
  out["score"] = json_number(static_cast<float>(hit.score));
  return out;
}

Result<std::vector<float>> parse_vector(const Json& value, std::string_view path) {
  const JsonArray* list = value.if_array();
  if (list == nullptr) return wrong(path, "must be a list of numbers");
  if (list->empty()) return wrong(path, "is empty: a vector has at least one number");
  std::vector<float> out;
  out.reserve(list->size());
  for (const Json& entry : *list) {
    if (entry.is_array())
      return fail_field(ErrorCode::kUnsupported, path, "'{}' is a list of vectors: multi-vectors are not supported", path);
    if (!entry.is_number()) return wrong(path, "must be a list of numbers");
    const auto number = static_cast<float>(entry.to_number<double>());
    if (!std::isfinite(number)) return wrong(path, "holds a number that is not finite in 32 bits");
    out.push_back(number);
  }
  return out;
}

Result<points::VectorsByName> parse_vectors(const Json& value, std::string_view path) {
  points::VectorsByName out;
  const JsonObject* named = value.if_object();
  if (named == nullptr) {
    FOOTNOTE_TRY(out[""], parse_vector(value, path));
    return out;
  }
  for (const auto& entry : *named) {
    const std::string at = fmt::format("{}.{}", path, std::string_view(entry.key()));
    if (entry.value().is_object() || entry.value().is_string()) {
      return fail_field(ErrorCode::kUnsupported, at, "'{}' is not a dense vector: sparse vectors and texts are not supported", at);
    }
    FOOTNOTE_TRY(out[std::string(entry.key())], parse_vector(entry.value(), at));
  }
  return out;
}

Result<points::OrderBy> parse_order_by(const Json& value, std::string_view path) {
  points::OrderBy out;
  const JsonObject* object = value.if_object();
  const Json* key = object == nullptr ? &value : object->if_contains("key");
  if (key == nullptr) return wrong(path, "needs a key");
  FOOTNOTE_TRY(out.path, parse_key(*key, path));
  if (object == nullptr) return out;
  if (const Json* direction = find(*object, "direction")) {
    if (*direction != "asc" && *direction != "desc") return wrong(path, "has a direction that is neither asc nor desc");
    out.descending = *direction == "desc";
  }
  const Json* start = find(*object, "start_from");
  if (start == nullptr) return out;
  if (start->is_number()) {
    out.start_from = start->to_number<double>();
    return out;
  }
  const auto time = start->is_string() ? parse_any_time(start->get_string()) : std::nullopt;
  if (!time) return wrong(path, "has a start_from that is neither a number nor a time");
  out.start_from = static_cast<double>(time->time_since_epoch().count());
  return out;
}

Result<points::PointQuery> parse_query(const JsonObject& body, std::string_view path, std::size_t depth) {
  if (depth > kPrefetchDepthMax) return wrong(path, "is nested more than {} prefetches deep", kPrefetchDepthMax);
  FOOTNOTE_TRY(points::PointQuery out, parse_example_frame(body, path));
  if (const Json* query = find(body, "query")) {
    FOOTNOTE_TRY(out.what, parse_what(*query, join_path(path, "query")));
  }
  if (const Json* prefetch = find(body, "prefetch")) {
    const JsonArray single{*prefetch};
    const JsonArray& list = prefetch->is_array() ? prefetch->get_array() : single;
    if (list.size() > kQueriesPerRequestMax) return wrong(join_path(path, "prefetch"), "has more than {} parts", kQueriesPerRequestMax);
    for (const Json& entry : list) {
      const std::string at = fmt::format("{}[{}]", join_path(path, "prefetch"), out.prefetch.size());
      if (!entry.is_object()) return wrong(at, "must be an object");
      FOOTNOTE_TRY(auto part, parse_query(entry.get_object(), at, depth + 1));
      out.prefetch.push_back(std::move(part));
    }
  }
  FOOTNOTE_CHECK(check_fusion(out, path));
  return out;
}

Result<points::PointQuery> parse_search(const JsonObject& body, std::string_view path) {
  FOOTNOTE_TRY(points::PointQuery out, parse_frame(body, path));
  const std::string at = join_path(path, "vector");
  const Json* vector = find(body, "vector");
  if (vector == nullptr) return wrong(at, "is required");
  if (const JsonObject* named = vector->if_object()) {
    const Json* name = named->if_contains("name");
    const Json* values = named->if_contains("vector");
    if (name == nullptr || !name->is_string() || values == nullptr) return wrong(at, "must be a vector or {{name, vector}}");
    out.space = name->get_string();
    vector = values;
  }
  if (vector->is_object()) return fail_field(ErrorCode::kUnsupported, at, "'{}' is a sparse vector: they are not supported", at);
  FOOTNOTE_TRY(auto numbers, parse_vector(*vector, at));
  out.what = points::Nearest{std::move(numbers), {}};
  return out;
}

Result<points::PointQuery> parse_recommend_request(const JsonObject& body, std::string_view path) {
  FOOTNOTE_TRY(points::PointQuery out, parse_example_frame(body, path));
  FOOTNOTE_TRY(out.what, parse_recommend(body, path.empty() ? "recommend" : std::string(path)));
  return out;
}

Result<points::PointQuery> parse_discover_request(const JsonObject& body, std::string_view path) {
  FOOTNOTE_TRY(points::PointQuery out, parse_example_frame(body, path));
  FOOTNOTE_TRY(out.what, parse_discover(body, path.empty() ? "discover" : std::string(path)));
  return out;
}

}  // namespace footnote::api
