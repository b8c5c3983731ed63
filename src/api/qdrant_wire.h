#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "api/qdrant_filter.h"
#include "api/route.h"
#include "base/json.h"
#include "points/point_search.h"
#include "points/point_writer.h"

namespace footnote::api {

/// Limits of one request.
inline constexpr std::size_t kPointBodyBytesMax = 32 << 20;
inline constexpr std::size_t kPointsPerRequestMax = 10'000;
inline constexpr std::size_t kPayloadBytesMax = 1 << 20;
inline constexpr std::int64_t kPointLimitMax = 10'000;
inline constexpr std::int64_t kPointOffsetMax = 1'000'000;
inline constexpr std::size_t kPrefetchDepthMax = 4;
inline constexpr std::size_t kQueriesPerRequestMax = 100;
inline constexpr std::size_t kExamplesMax = 1'000;
inline constexpr std::size_t kOperationsPerRequestMax = 1'000;

/// {status:{error},time}; every invalid field is 400. Retry-After has one digit, because clients read only one.
http::Response render_qdrant_error(const Error& error);

/// Which parts of a point to render.
struct Shown {
  bool payload = false;
  std::vector<JsonPath> include;  ///< Empty: everything except `exclude`.
  std::vector<JsonPath> exclude;
  bool vectors = false;
  std::vector<std::string> names;  ///< Empty: all.

  PointVectors reads() const { return vectors ? PointVectors::kRead : PointVectors::kLeftOut; }
};
/// Parses with_payload and with_vector.
Result<Shown> parse_shown(const JsonObject& body, bool payload_default);

Json render_id(const PointId& id);
Json render_key(const PayloadKey& key);
/// {id, payload?, vector?}
Result<JsonObject> render_point(const Point& point, const Corpus& corpus, const Shown& shown);
/// render_point plus {version, score}.
Result<JsonObject> render_scored(const points::ScoredPoint& hit, const Corpus& corpus, const Shown& shown);

/// A dense vector of finite numbers, at least one.
Result<std::vector<float>> parse_vector(const Json& value, std::string_view path);
/// A vector, or an object of vectors by name.
Result<points::VectorsByName> parse_vectors(const Json& value, std::string_view path);

/// {query, prefetch, using, filter, limit, offset, score_threshold, params}
Result<points::PointQuery> parse_query(const JsonObject& body, std::string_view path = {}, std::size_t depth = 0);
/// {vector, filter, limit, offset, score_threshold, params}: the API older than /points/query.
Result<points::PointQuery> parse_search(const JsonObject& body, std::string_view path = {});
/// {positive, negative, strategy, filter, using, lookup_from, limit ...}: /points/recommend.
Result<points::PointQuery> parse_recommend_request(const JsonObject& body, std::string_view path = {});
/// {target, context, filter, using, lookup_from, limit ...}: /points/discover.
Result<points::PointQuery> parse_discover_request(const JsonObject& body, std::string_view path = {});
Result<points::OrderBy> parse_order_by(const Json& value, std::string_view path);

/// {points:[ids]} or {filter}.
Result<points::Selection> parse_selection(const JsonObject& body, std::string_view path);
Result<points::Upsert> parse_upsert(const JsonObject& body);
/// An operation of /points/batch by its name: "upsert", "delete", "set_payload" ...
Result<points::PointOperation> parse_operation(std::string_view name, const Json& body, bool may_delete_all);

/// A field with an integer in [min, max].
Result<std::optional<std::int64_t>> optional_count(const JsonObject& body, std::string_view key, std::int64_t min, std::int64_t max);
/// A field with an integer of at least 1; larger ones than kPointLimitMax become that.
Result<std::optional<std::int64_t>> optional_limit(const JsonObject& body, std::string_view key);
Result<const JsonObject*> body_object(const Json& body);

}  // namespace footnote::api
