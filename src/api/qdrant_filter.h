#pragma once

#include "api/qdrant_json.h"
#include "base/json.h"
#include "points/payload_filter.h"

namespace footnote::api {

/// How deep filters may lie inside each other, and how many conditions one may have in all.
inline constexpr std::size_t kFilterDepthMax = 12;
inline constexpr std::size_t kFilterConditionsMax = 10'000;

/// Reads Qdrant's filter language. Null reads as an empty filter. A key that is not known is kInvalidArgument, never a condition
/// that all meet; `path` is how the client would call the filter.
Result<points::PointFilter> parse_filter(const Json& value, std::string_view path = "filter");

/// A number or UUID. kInvalidArgument.
Result<PointId> parse_id(const Json& value, std::string_view path);
Result<std::vector<PointId>> parse_ids(const Json& value, std::string_view path);
/// A key of payloads. kInvalidArgument.
Result<JsonPath> parse_key(const Json& value, std::string_view path);

}  // namespace footnote::api
