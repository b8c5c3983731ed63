#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "base/json.h"
#include "base/json_path.h"
#include "domain/point.h"
#include "ports/point_store.h"

namespace footnote::points {

/// Conditions on the values of one key. A list meets one when any of its elements does, where not said otherwise.

struct MatchAny {
  std::vector<PayloadKey> values;  ///< One of these; a match of one value is a list of one.
};
struct MatchExcept {
  std::vector<PayloadKey> values;  ///< None of these. A key without values does not meet it.
};
/// Words of a text, without regard to case.
struct MatchWords {
  enum class Mode { kAll, kAny, kPhrase };
  Mode mode = Mode::kAll;
  std::vector<std::string> words;
};
struct MatchPrefix {
  std::string prefix;
};
/// Bounds that are not set do not bind.
struct NumberRange {
  std::optional<double> gt, gte, lt, lte;
};
struct TimeRange {
  std::optional<UtcTime> gt, gte, lt, lte;
};
/// How many values the key has: elements of a list, 1 for anything else but null, 0 where there is none.
struct ValuesCount {
  NumberRange range;
};
struct GeoPoint {
  double lon = 0;
  double lat = 0;
};
struct GeoBox {
  GeoPoint top_left, bottom_right;  ///< May lie across the date line.
};
struct GeoRadius {
  GeoPoint centre;
  double metres = 0;
};
struct GeoPolygon {
  std::vector<GeoPoint> exterior;
  std::vector<std::vector<GeoPoint>> interiors;
};
/// No value, null, or an empty list.
struct IsEmpty {};
/// A null, by itself or in a list.
struct IsNull {};

using ValueTest = std::variant<MatchAny, MatchExcept, MatchWords, MatchPrefix, NumberRange, TimeRange, ValuesCount, GeoBox, GeoRadius,
                               GeoPolygon, IsEmpty, IsNull>;

struct FieldCondition {
  std::string field;  ///< As it was written, and as a declared key would be called.
  JsonPath path;
  ValueTest test;
};

struct PayloadFilter;
using SubFilter = std::shared_ptr<const PayloadFilter>;  // shared: a filter is immutable once made, and copied with its query

struct HasId {
  std::vector<PointId> ids;  ///< In ascending order.
};
struct HasVector {
  std::string name;  ///< "": the one of the corpus's own space.
};
/// One and the same element of a list of objects meets all of it.
struct Nested {
  JsonPath path;
  SubFilter filter;
};
/// One of `total` parts of all points, by their ids.
struct Slice {
  std::uint64_t total = 1;
  std::uint64_t index = 0;
};

using Condition = std::variant<FieldCondition, HasId, HasVector, Nested, Slice, SubFilter>;

/// All of `must`, none of `must_not`, at least one of `should` unless that is empty, and `min_should_count` of `min_should`.
struct PayloadFilter {
  std::vector<Condition> must;
  std::vector<Condition> should;
  std::vector<Condition> must_not;
  std::vector<Condition> min_should;
  std::size_t min_should_count = 0;

  bool empty() const { return must.empty() && should.empty() && must_not.empty() && min_should.empty(); }
};

/// A filter with the text that it was made from: equal texts mean equal filters.
struct PointFilter {
  PayloadFilter conditions;
  std::string text;
};

/// The one meaning of a filter. `payload` is the parsed one of `point`.
bool matches(const PayloadFilter& filter, const PointView& point, const JsonObject& payload);

/// The words of a text in lower case, as MatchWords compares them: runs of letters and digits.
std::vector<std::string> words_of(std::string_view text);

/// Which of `total` parts a point is in.
std::uint64_t slice_of(const PointId& id, std::uint64_t total);

/// A whole number or text or bool of a payload as a key; nullopt for all else.
std::optional<PayloadKey> key_of(const Json& value);

}  // namespace footnote::points
