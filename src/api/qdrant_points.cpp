// Qdrant's API for points: write, read and search.
#include <algorithm>

#include "api/qdrant_routes.h"
#include "points/answer_points.h"

namespace footnote::api {

namespace {

using http::Method;

constexpr std::int64_t kGroupSizeMax = 1'000;

using qdrant::find;
using qdrant::wrong;

/// The body of a call on a collection, and the collection.
struct Asked {
  Json json;
  Collection collection;

  const JsonObject& body() const { return json.get_object(); }
};

Result<Asked> ask(const PointCall& point) {
  FOOTNOTE_TRY(Json json, point.body());
  FOOTNOTE_CHECK(body_object(json));
  FOOTNOTE_TRY(Collection collection, point.collection());
  return Asked{std::move(json), std::move(collection)};
}

// Writing.

bool waits(const PointCall& point) { return point.request.query_value("wait").value_or("true") != "false"; }
bool may_delete_all(const PointCall& point) { return point.request.query_value("delete_all") == "true"; }

/// Everything is durable before the response; clients that do not wait get the status that they expect.
Json operation_result(const PointCall& point, Generation generation) {
  return JsonObject{{"operation_id", generation}, {"status", waits(point) ? "completed" : "acknowledged"}};
}

/// The collection to write to; the memory collection is created by the first write.
Result<Collection> writable(const PointCall& point) {
  auto found = point.collection();
  const bool on_demand = point.request.param("name") == kAgentCollection;
  if (found || found.error().code != ErrorCode::kNotFound || !on_demand) return found;
  FOOTNOTE_CHECK(
      point.services.catalog.ensure_corpus(point.call, point.caller.workspace, kAgentCollection, point.services.memories.space()));
  return point.collection();
}

Result<Json> apply(const PointCall& point, std::string_view name) {
  FOOTNOTE_TRY(const Json json, point.body());
  FOOTNOTE_TRY(const points::PointOperation operation, parse_operation(name, json, may_delete_all(point)));
  FOOTNOTE_TRY(const Collection collection, name == "upsert" ? writable(point) : point.collection());
  FOOTNOTE_TRY(const Generation generation, point.services.writer.apply(point.call, collection.corpus.id, std::span(&operation, 1)));
  return operation_result(point, generation);
}

Result<Json> upsert(const PointCall& point) { return apply(point, "upsert"); }
Result<Json> delete_points(const PointCall& point) { return apply(point, "delete"); }
Result<Json> set_payload(const PointCall& point) { return apply(point, "set_payload"); }
Result<Json> overwrite_payload(const PointCall& point) { return apply(point, "overwrite_payload"); }
Result<Json> delete_payload(const PointCall& point) { return apply(point, "delete_payload"); }
Result<Json> clear_payload(const PointCall& point) { return apply(point, "clear_payload"); }
Result<Json> update_vectors(const PointCall& point) { return apply(point, "update_vectors"); }
Result<Json> delete_vectors(const PointCall& point) { return apply(point, "delete_vectors"); }

Result<Json> batch(const PointCall& point) {
  FOOTNOTE_TRY(const Json json, point.body());
  FOOTNOTE_TRY(const JsonObject* body, body_object(json));
  const Json* list = find(*body, "operations");
  if (list == nullptr || !list->is_array()) return wrong("operations", "must be a list");
  if (list->get_array().size() > kOperationsPerRequestMax) return wrong("operations", "has more than {} entries", kOperationsPerRequestMax);
  std::vector<points::PointOperation> operations;
  for (const Json& entry : list->get_array()) {
    const JsonObject* object = entry.if_object();
    if (object == nullptr || object->size() != 1) return wrong("operations", "must hold one operation each");
    FOOTNOTE_TRY(auto operation, parse_operation(object->begin()->key(), object->begin()->value(), may_delete_all(point)));
    operations.push_back(std::move(operation));
  }
  FOOTNOTE_TRY(const Collection collection, writable(point));
  FOOTNOTE_TRY(const Generation generation, point.services.writer.apply(point.call, collection.corpus.id, operations));
  JsonArray out;
  for (std::size_t i = 0; i < operations.size(); ++i) out.push_back(operation_result(point, generation));
  return out;
}

// Reading.

Result<JsonArray> render_points(const std::vector<Point>& found, const Corpus& corpus, const Shown& shown) {
  JsonArray out;
  for (const Point& one : found) {
    FOOTNOTE_TRY(JsonObject record, render_point(one, corpus, shown));
    out.push_back(std::move(record));
  }
  return out;
}

Result<JsonArray> render_hits(const std::vector<points::ScoredPoint>& found, const Corpus& corpus, const Shown& shown) {
  JsonArray out;
  for (const auto& hit : found) {
    FOOTNOTE_TRY(JsonObject record, render_scored(hit, corpus, shown));
    out.push_back(std::move(record));
  }
  return out;
}

Result<Json> retrieve(const PointCall& point) {
  FOOTNOTE_TRY(const Asked asked, ask(point));
  const Json* ids = find(asked.body(), "ids");
  if (ids == nullptr) return wrong("ids", "is required");
  FOOTNOTE_TRY(const auto wanted, parse_ids(*ids, "ids"));
  if (wanted.size() > kPointsPerRequestMax) return wrong("ids", "has more than {} entries", kPointsPerRequestMax);
  FOOTNOTE_TRY(const Shown shown, parse_shown(asked.body(), true));
  FOOTNOTE_TRY(const auto found,
               points::read_points(point.services.points, point.call, asked.collection.corpus.id, wanted, shown.reads(), point.work));
  FOOTNOTE_TRY(JsonArray out, render_points(found, asked.collection.corpus, shown));
  return out;
}

Result<Json> one(const PointCall& point) {
  FOOTNOTE_TRY(const Collection collection, point.collection());
  const auto id = parse_point_id(point.request.param("id"));
  if (!id) return wrong("id", "must be a non-negative integer or a UUID");
  const PointId ids[] = {*id};
  FOOTNOTE_TRY(const auto found, point.services.points.points(point.call, collection.corpus.id, ids, PointVectors::kRead));
  if (found.empty()) return fail(ErrorCode::kNotFound, "Not found: Point with id {} does not exists!", to_string(*id));
  FOOTNOTE_TRY(JsonObject out, render_point(found[0], collection.corpus, {.payload = true, .vectors = true}));
  return out;
}

Result<std::optional<points::PointFilter>> filter_in(const JsonObject& body) {
  const Json* filter = find(body, "filter");
  if (filter == nullptr) return std::nullopt;
  FOOTNOTE_TRY(auto parsed, parse_filter(*filter));
  return parsed;
}

Result<Json> scroll_in_order(const PointCall& point, const Asked& asked, points::PointQuery query, const Shown& shown) {
  const Corpus& corpus = asked.collection.corpus;
  FOOTNOTE_TRY(query.what, parse_order_by(*find(asked.body(), "order_by"), "order_by"));
  FOOTNOTE_TRY(const auto found, point.services.search.query(point.call, corpus, query, shown.reads(), point.work));
  JsonArray out;
  for (const auto& hit : found) {
    FOOTNOTE_TRY(JsonObject record, render_point(hit.point, corpus, shown));
    record["order_value"] = hit.score;
    out.push_back(std::move(record));
  }
  return JsonObject{{"points", std::move(out)}, {"next_page_offset", nullptr}};
}

Result<Json> scroll(const PointCall& point) {
  FOOTNOTE_TRY(const Asked asked, ask(point));
  FOOTNOTE_TRY(const Shown shown, parse_shown(asked.body(), true));
  FOOTNOTE_TRY(const auto limit, optional_limit(asked.body(), "limit"));
  FOOTNOTE_TRY(auto filter, filter_in(asked.body()));
  const auto wanted = static_cast<std::size_t>(limit.value_or(10));
  if (find(asked.body(), "order_by") != nullptr) {
    points::PointQuery query;
    query.filter = std::move(filter);
    query.limit = wanted;
    return scroll_in_order(point, asked, std::move(query), shown);
  }
  std::optional<PointId> from;
  if (const Json* offset = find(asked.body(), "offset")) {
    FOOTNOTE_TRY(from, parse_id(*offset, "offset"));
  }
  // Fetch one extra: it is where the next page starts.
  FOOTNOTE_TRY(auto found, point.services.search.scroll(point.call, asked.collection.corpus, filter ? &*filter : nullptr, from, wanted + 1,
                                                        shown.reads(), point.work));
  Json next = nullptr;
  if (found.size() > wanted) {
    next = render_id(found.back().id);
    found.pop_back();
  }
  FOOTNOTE_TRY(JsonArray out, render_points(found, asked.collection.corpus, shown));
  return JsonObject{{"points", std::move(out)}, {"next_page_offset", std::move(next)}};
}

Result<Json> count(const PointCall& point) {
  FOOTNOTE_TRY(const Asked asked, ask(point));
  const Corpus& corpus = asked.collection.corpus;
  FOOTNOTE_TRY(const auto filter, filter_in(asked.body()));
  if (!filter || filter->conditions.empty()) {
    FOOTNOTE_TRY(const CorpusCounts counts, point.services.chunks.counts(point.call, corpus.id));
    return JsonObject{{"count", counts.chunks - counts.labelled_chunks}};  // passages of labelled documents are not points
  }
  FOOTNOTE_TRY(const std::size_t counted, point.services.search.count(point.call, corpus, *filter, point.work));
  return JsonObject{{"count", counted}};
}

Result<Json> facet(const PointCall& point) {
  FOOTNOTE_TRY(const Asked asked, ask(point));
  const Json* key = find(asked.body(), "key");
  if (key == nullptr) return wrong("key", "is required");
  FOOTNOTE_TRY(const JsonPath path, parse_key(*key, "key"));
  FOOTNOTE_TRY(const auto limit, optional_limit(asked.body(), "limit"));
  FOOTNOTE_TRY(const auto filter, filter_in(asked.body()));
  FOOTNOTE_TRY(const auto found, point.services.search.facet(point.call, asked.collection.corpus, path, filter ? &*filter : nullptr,
                                                             static_cast<std::size_t>(limit.value_or(10)), point.work));
  JsonArray hits;
  for (const auto& hit : found) hits.push_back(JsonObject{{"value", render_key(hit.value)}, {"count", hit.count}});
  return JsonObject{{"hits", std::move(hits)}};
}

// Searching.

using ParseQuery = Result<points::PointQuery> (*)(const JsonObject&);
Result<points::PointQuery> as_query(const JsonObject& body) { return parse_query(body); }
Result<points::PointQuery> as_search(const JsonObject& body) { return parse_search(body); }
Result<points::PointQuery> as_recommend(const JsonObject& body) { return parse_recommend_request(body); }
Result<points::PointQuery> as_discover(const JsonObject& body) { return parse_discover_request(body); }

Result<JsonArray> run(const PointCall& point, const Corpus& corpus, const JsonObject& body, ParseQuery parse) {
  FOOTNOTE_TRY(const auto query, parse(body));
  FOOTNOTE_TRY(const Shown shown, parse_shown(body, false));
  FOOTNOTE_TRY(const auto found, point.services.search.query(point.call, corpus, query, shown.reads(), point.work));
  return render_hits(found, corpus, shown);
}

Result<Json> run_bare(const PointCall& point, ParseQuery parse) {
  FOOTNOTE_TRY(const Asked asked, ask(point));
  if (find(asked.body(), "limit") == nullptr) return wrong("limit", "is required");
  FOOTNOTE_TRY(JsonArray out, run(point, asked.collection.corpus, asked.body(), parse));
  return out;
}

Result<Json> search(const PointCall& point) { return run_bare(point, as_search); }
Result<Json> recommend(const PointCall& point) { return run_bare(point, as_recommend); }
Result<Json> discover(const PointCall& point) { return run_bare(point, as_discover); }

Result<Json> query(const PointCall& point) {
  FOOTNOTE_TRY(const Asked asked, ask(point));
  FOOTNOTE_TRY(JsonArray out, run(point, asked.collection.corpus, asked.body(), as_query));
  return JsonObject{{"points", std::move(out)}};
}

Result<Json> run_batch(const PointCall& point, ParseQuery parse, bool wrapped) {
  FOOTNOTE_TRY(const Asked asked, ask(point));
  const Json* searches = find(asked.body(), "searches");
  if (searches == nullptr || !searches->is_array()) return wrong("searches", "must be a list");
  if (searches->get_array().size() > kQueriesPerRequestMax) return wrong("searches", "has more than {} entries", kQueriesPerRequestMax);
  JsonArray out;
  for (const Json& entry : searches->get_array()) {
    if (!entry.is_object()) return wrong("searches", "must hold objects");
    FOOTNOTE_TRY(JsonArray hits, run(point, asked.collection.corpus, entry.get_object(), parse));
    out.push_back(wrapped ? Json(JsonObject{{"points", std::move(hits)}}) : Json(std::move(hits)));
  }
  return out;
}

Result<Json> search_batch(const PointCall& point) { return run_batch(point, as_search, false); }
Result<Json> recommend_batch(const PointCall& point) { return run_batch(point, as_recommend, false); }
Result<Json> discover_batch(const PointCall& point) { return run_batch(point, as_discover, false); }
Result<Json> query_batch(const PointCall& point) { return run_batch(point, as_query, true); }

std::optional<PointId> id_of_group(const PayloadKey& value) {
  if (const auto* number = std::get_if<std::int64_t>(&value)) {
    return *number < 0 ? std::nullopt : std::optional(PointId{static_cast<std::uint64_t>(*number)});
  }
  const auto* text = std::get_if<std::string>(&value);
  const auto uuid = text == nullptr ? std::nullopt : parse_uuid(*text);
  return uuid ? std::optional(PointId{*uuid}) : std::nullopt;
}

/// Adds to each group the point of another collection that has the group's value as its id.
Result<void> add_lookups(const PointCall& point, const Json& lookup, const std::vector<points::PointGroup>& found, JsonArray& groups) {
  const JsonObject by_name{{"collection", lookup}};
  const JsonObject& body = lookup.is_string() ? by_name : lookup.is_object() ? lookup.get_object() : JsonObject{};
  const Json* name = find(body, "collection");
  if (name == nullptr || !name->is_string())
    return wrong("with_lookup", "must be a collection or {{collection, with_payload, with_vectors}}");
  FOOTNOTE_TRY(const Shown shown, parse_shown(body, true));
  FOOTNOTE_TRY(const Collection other, point.services.points.collection(point.call, point.caller.workspace, name->get_string()));
  std::vector<PointId> ids;
  for (const auto& group : found) {
    if (const auto id = id_of_group(group.value)) ids.push_back(*id);
  }
  FOOTNOTE_TRY(const auto records, points::read_points(point.services.points, point.call, other.corpus.id, ids, shown.reads(), point.work));
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto id = id_of_group(found[i].value);
    const auto record = !id ? records.end() : std::ranges::find(records, *id, &Point::id);
    if (record == records.end()) continue;
    FOOTNOTE_TRY(JsonObject rendered, render_point(*record, other.corpus, shown));
    groups[i].get_object()["lookup"] = std::move(rendered);
  }
  return {};
}

Result<Json> run_groups(const PointCall& point, ParseQuery parse) {
  FOOTNOTE_TRY(const Asked asked, ask(point));
  const Corpus& corpus = asked.collection.corpus;
  const Json* key = find(asked.body(), "group_by");
  if (key == nullptr) return wrong("group_by", "is required");
  FOOTNOTE_TRY(const JsonPath path, parse_key(*key, "group_by"));
  FOOTNOTE_TRY(const auto size, optional_count(asked.body(), "group_size", 1, kGroupSizeMax));
  FOOTNOTE_TRY(auto wanted, parse(asked.body()));
  FOOTNOTE_TRY(const Shown shown, parse_shown(asked.body(), false));
  FOOTNOTE_TRY(const auto found, point.services.search.groups(point.call, corpus, std::move(wanted), path,
                                                              static_cast<std::size_t>(size.value_or(3)), shown.reads(), point.work));
  JsonArray groups;
  for (const auto& group : found) {
    FOOTNOTE_TRY(JsonArray hits, render_hits(group.hits, corpus, shown));
    groups.push_back(JsonObject{{"id", render_key(group.value)}, {"hits", std::move(hits)}});
  }
  if (const Json* lookup = find(asked.body(), "with_lookup")) FOOTNOTE_CHECK(add_lookups(point, *lookup, found, groups));
  return JsonObject{{"groups", std::move(groups)}};
}

Result<Json> query_groups(const PointCall& point) { return run_groups(point, as_query); }
Result<Json> search_groups(const PointCall& point) { return run_groups(point, as_search); }
Result<Json> recommend_groups(const PointCall& point) { return run_groups(point, as_recommend); }

}  // namespace

std::vector<PointRoute> point_routes() {
  constexpr KeyScope kRead = KeyScope::kRead;
  constexpr KeyScope kWrite = KeyScope::kIngest;
  return {{kWrite, Method::kPut, "/{name}/points", upsert, "Add points, or replace those of the same ids"},
          {kRead, Method::kPost, "/{name}/points", retrieve, "Points by their ids"},
          {kRead, Method::kGet, "/{name}/points/{id}", one, "One point"},
          {kRead, Method::kPost, "/{name}/points/scroll", scroll, "Points in pages, ordered by id or by a payload key"},
          {kRead, Method::kPost, "/{name}/points/count", count, "How many points meet a filter"},
          {kRead, Method::kPost, "/{name}/facet", facet, "Counts of each value of a payload key"},
          {kWrite, Method::kPost, "/{name}/points/delete", delete_points, "Delete points by id or filter"},
          {kWrite, Method::kPost, "/{name}/points/payload", set_payload, "Set keys of payloads"},
          {kWrite, Method::kPut, "/{name}/points/payload", overwrite_payload, "Replace payloads"},
          {kWrite, Method::kPost, "/{name}/points/payload/delete", delete_payload, "Delete keys of payloads"},
          {kWrite, Method::kPost, "/{name}/points/payload/clear", clear_payload, "Clear payloads"},
          {kWrite, Method::kPut, "/{name}/points/vectors", update_vectors, "Replace vectors of points"},
          {kWrite, Method::kPost, "/{name}/points/vectors/delete", delete_vectors, "Delete vectors of points"},
          {kWrite, Method::kPost, "/{name}/points/batch", batch, "Several operations in one transaction"},
          {kRead, Method::kPost, "/{name}/points/search", search, "The nearest points"},
          {kRead, Method::kPost, "/{name}/points/search/batch", search_batch, "Several searches"},
          {kRead, Method::kPost, "/{name}/points/search/groups", search_groups, "The nearest points, grouped by a payload key"},
          {kRead, Method::kPost, "/{name}/points/query", query, "The nearest points, with nested prefetches and fusion"},
          {kRead, Method::kPost, "/{name}/points/query/batch", query_batch, "Several queries"},
          {kRead, Method::kPost, "/{name}/points/query/groups", query_groups, "The nearest points, grouped by a payload key"},
          {kRead, Method::kPost, "/{name}/points/recommend", recommend, "Points like some examples and unlike others"},
          {kRead, Method::kPost, "/{name}/points/recommend/batch", recommend_batch, "Several recommendations"},
          {kRead, Method::kPost, "/{name}/points/recommend/groups", recommend_groups, "Recommended points, grouped by a payload key"},
          {kRead, Method::kPost, "/{name}/points/discover", discover, "Points on the positive side of pairs of examples"},
          {kRead, Method::kPost, "/{name}/points/discover/batch", discover_batch, "Several discoveries"}};
}

}  // namespace footnote::api
