// Qdrant's API for operations on points.
#include <algorithm>

#include "api/qdrant_wire.h"

namespace footnote::api {

namespace {

using namespace points;

using qdrant::find;
using qdrant::wrong;

Result<JsonObject> parse_payload(const Json* value, std::string_view path) {
  if (value == nullptr || value->is_null()) return JsonObject{};
  const JsonObject* object = value->if_object();
  if (object == nullptr) return wrong(path, "must be an object");
  if (to_text(*value).size() > kPayloadBytesMax) {
    return fail_field(ErrorCode::kTooLarge, path, "'{}' is over the limit of {} bytes", path, kPayloadBytesMax);
  }
  return *object;
}

Result<NewPoint> parse_point(const Json& value, const std::string& path) {
  const JsonObject* object = value.if_object();
  const Json* id = object == nullptr ? nullptr : object->if_contains("id");
  const Json* vector = object == nullptr ? nullptr : find(*object, "vector");
  if (id == nullptr) return wrong(path, "must be {{id, vector, payload}}");
  if (vector == nullptr) return wrong(path + ".vector", "is required");
  FOOTNOTE_TRY(const PointId point, parse_id(*id, path + ".id"));
  FOOTNOTE_TRY(auto vectors, parse_vectors(*vector, path + ".vector"));
  FOOTNOTE_TRY(auto payload, parse_payload(object->if_contains("payload"), path + ".payload"));
  return NewPoint{.id = point, .vectors = std::move(vectors), .payload = std::move(payload)};
}

/// {ids, vectors, payloads}: `vectors` is a list, or an object of lists by name.
Result<Upsert> parse_batch(const JsonObject& batch) {
  const Json* ids = find(batch, "ids");
  const Json* vectors = find(batch, "vectors");
  const Json* payloads = find(batch, "payloads");
  if (ids == nullptr || vectors == nullptr) return wrong("batch", "needs ids and vectors");
  FOOTNOTE_TRY(const auto parsed, parse_ids(*ids, "batch.ids"));
  Upsert out;
  for (const PointId& id : parsed) out.points.push_back({.id = id, .vectors = {}, .payload = {}});
  const auto spread = [&](const std::string& name, const Json& list, const std::string& path) -> Result<void> {
    if (!list.is_array() || list.get_array().size() != parsed.size()) return wrong(path, "must have one vector for each of batch.ids");
    for (std::size_t i = 0; i < parsed.size(); ++i) {
      FOOTNOTE_TRY(out.points[i].vectors[name], parse_vector(list.get_array()[i], fmt::format("{}[{}]", path, i)));
    }
    return {};
  };
  if (const JsonObject* named = vectors->if_object()) {
    for (const auto& entry : *named) {
      FOOTNOTE_CHECK(spread(std::string(entry.key()), entry.value(), fmt::format("batch.vectors.{}", std::string_view(entry.key()))));
    }
  } else {
    FOOTNOTE_CHECK(spread("", *vectors, "batch.vectors"));
  }
  if (payloads == nullptr) return out;
  if (!payloads->is_array() || payloads->get_array().size() != parsed.size()) {
    return wrong("batch.payloads", "must have one payload for each of batch.ids");
  }
  for (std::size_t i = 0; i < parsed.size(); ++i) {
    FOOTNOTE_TRY(out.points[i].payload, parse_payload(&payloads->get_array()[i], fmt::format("batch.payloads[{}]", i)));
  }
  return out;
}

Result<void> check_count(std::size_t count, std::string_view path) {
  if (count <= kPointsPerRequestMax) return {};
  return fail_field(ErrorCode::kTooLarge, path, "'{}' has {} points; at most {} are allowed per request", path, count,
                    kPointsPerRequestMax);
}

Result<DeletePoints> parse_delete(const JsonObject& body, bool may_delete_all) {
  FOOTNOTE_TRY(Selection selection, parse_selection(body, "filter"));
  if (const auto* filter = std::get_if<PointFilter>(&selection); filter != nullptr && filter->conditions.empty() && !may_delete_all) {
    return wrong("filter", "is empty and would delete every point: confirm with ?delete_all=true");
  }
  return DeletePoints{std::move(selection)};
}

Result<SetPayload> parse_set_payload(const JsonObject& body) {
  const Json* payload = find(body, "payload");
  if (payload == nullptr) return wrong("payload", "is required");
  SetPayload out;
  FOOTNOTE_TRY(out.payload, parse_payload(payload, "payload"));
  FOOTNOTE_TRY(out.points, parse_selection(body, "filter"));
  if (const Json* key = find(body, "key")) {
    FOOTNOTE_TRY(out.at, parse_key(*key, "key"));
    if (out.at->enters_lists()) return wrong("key", "leads into a list: only objects are entered");
  }
  return out;
}

Result<DeletePayload> parse_delete_payload(const JsonObject& body) {
  const Json* keys = find(body, "keys");
  if (keys == nullptr || !keys->is_array()) return wrong("keys", "must be a list of keys");
  DeletePayload out;
  for (const Json& entry : keys->get_array()) {
    FOOTNOTE_TRY(JsonPath key, parse_key(entry, "keys"));
    out.keys.push_back(std::move(key));
  }
  FOOTNOTE_TRY(out.points, parse_selection(body, "filter"));
  return out;
}

Result<UpdateVectors> parse_update_vectors(const JsonObject& body) {
  const Json* points = find(body, "points");
  if (points == nullptr || !points->is_array()) return wrong("points", "must be a list of {{id, vector}}");
  FOOTNOTE_CHECK(check_count(points->get_array().size(), "points"));
  UpdateVectors out;
  for (const Json& entry : points->get_array()) {
    FOOTNOTE_TRY(NewPoint point, parse_point(entry, fmt::format("points[{}]", out.points.size())));
    out.points.emplace_back(point.id, std::move(point.vectors));
  }
  return out;
}

Result<DeleteVectors> parse_delete_vectors(const JsonObject& body) {
  const Json* names = find(body, "vector");
  if (names == nullptr || !names->is_array()) return wrong("vector", "must be a list of names");
  DeleteVectors out;
  for (const Json& name : names->get_array()) {
    if (!name.is_string()) return wrong("vector", "must be a list of names");
    out.names.emplace_back(name.get_string());
  }
  FOOTNOTE_TRY(out.points, parse_selection(body, "filter"));
  return out;
}

template <class Operation>
Result<PointOperation> as_operation(Result<Operation> parsed) {
  if (!parsed) return std::unexpected(std::move(parsed).error());
  return PointOperation{*std::move(parsed)};
}

}  // namespace

Result<Selection> parse_selection(const JsonObject& body, std::string_view path) {
  const Json* ids = find(body, "points");
  const Json* filter = find(body, "filter");
  if ((ids == nullptr) == (filter == nullptr)) return wrong(path, "or 'points' must select the points");
  if (filter != nullptr) {
    FOOTNOTE_TRY(auto parsed, parse_filter(*filter, path));
    return Selection{std::move(parsed)};
  }
  FOOTNOTE_TRY(auto parsed, parse_ids(*ids, "points"));
  FOOTNOTE_CHECK(check_count(parsed.size(), "points"));
  return Selection{std::move(parsed)};
}

Result<Upsert> parse_upsert(const JsonObject& body) {
  for (const std::string_view key : {"update_filter", "update_mode"}) {
    if (find(body, key) != nullptr) return fail_field(ErrorCode::kUnsupported, key, "'{}' is not supported", key);
  }
  const Json* batch = find(body, "batch");
  const Json* points = find(body, "points");
  if (batch != nullptr && batch->is_object()) {
    FOOTNOTE_TRY(Upsert out, parse_batch(batch->get_object()));
    FOOTNOTE_CHECK(check_count(out.points.size(), "batch.ids"));
    return out;
  }
  if (points == nullptr || !points->is_array()) return wrong("points", "must be a list of points");
  FOOTNOTE_CHECK(check_count(points->get_array().size(), "points"));
  Upsert out;
  for (const Json& entry : points->get_array()) {
    FOOTNOTE_TRY(NewPoint point, parse_point(entry, fmt::format("points[{}]", out.points.size())));
    out.points.push_back(std::move(point));
  }
  return out;
}

Result<PointOperation> parse_operation(std::string_view name, const Json& value, bool may_delete_all) {
  FOOTNOTE_TRY(const JsonObject* body, body_object(value));
  if (name == "upsert") return as_operation(parse_upsert(*body));
  if (name == "delete" || name == "delete_points") return as_operation(parse_delete(*body, may_delete_all));
  if (name == "set_payload") return as_operation(parse_set_payload(*body));
  if (name == "overwrite_payload") {
    FOOTNOTE_TRY(SetPayload set, parse_set_payload(*body));
    if (set.at) return PointOperation{std::move(set)};  // with a key, only the value there is replaced, the same as set
    return PointOperation{OverwritePayload{std::move(set.points), std::move(set.payload)}};
  }
  if (name == "delete_payload") return as_operation(parse_delete_payload(*body));
  if (name == "clear_payload") {
    FOOTNOTE_TRY(Selection points, parse_selection(*body, "filter"));
    return PointOperation{ClearPayload{std::move(points)}};
  }
  if (name == "update_vectors") return as_operation(parse_update_vectors(*body));
  if (name == "delete_vectors") return as_operation(parse_delete_vectors(*body));
  return wrong(name,
               "is not an operation; use upsert, delete, set_payload, overwrite_payload, delete_payload, clear_payload, update_vectors, "
               "delete_vectors");
}

}  // namespace footnote::api
