#pragma once

#include "api/qdrant_json.h"
#include "base/json.h"
#include "points/payload_filter.h"

namespace footnote::api {

/// Maximum nesting depth of filters, and maximum number of conditions in one.
inline constexpr std::size_t kFilterDepthMax = 12;
inline constexpr std::size_t kFilterConditionsMax = 10'000;

/// Parses Qdrant's filter language. Null is an empty filter. An unknown key is kInvalidArgument, never a condition that always matches;
/// `path` is the filter's place in the body, for messages.
Result<points::PointFilter> parse_filter(const Json& value, std::string_view path = "filter");

/// A number or UUID. kInvalidArgument.
Result<PointId> parse_id(const Json& value, std::string_view path);
Result<std::vector<PointId>> parse_ids(const Json& value, std::string_view path);
/// A payload key. kInvalidArgument.
Result<JsonPath> parse_key(const Json& value, std::string_view path);

}  // namespace footnote::api
