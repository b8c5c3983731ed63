#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "base/json.h"
#include "base/json_path.h"
#include "domain/point.h"
#include "ports/point_store.h"

namespace footnote::points {

/// Conditions on the values of one key. Unless stated otherwise, a list matches if any of its elements does.

/// A list of keys, sorted and without duplicates, so that long lists are searched quickly.
class KeySet {
 public:
  KeySet(std::vector<PayloadKey> keys);
  KeySet(std::initializer_list<PayloadKey> keys) : KeySet(std::vector<PayloadKey>(keys)) {}
  bool contains(const PayloadKey& key) const;
  const std::vector<PayloadKey>& keys() const { return keys_; }

 private:
  std::vector<PayloadKey> keys_;
};

struct MatchAny {
  KeySet values;  ///< Any of these; a single-value match is a list of one.
};
struct MatchExcept {
  KeySet values;  ///< None of these. A key without values does not match.
};
/// Matches words of a text, ignoring case.
struct MatchWords {
  enum class Mode { kAll, kAny, kPhrase };
  Mode mode = Mode::kAll;
  std::vector<std::string> words;
};
struct MatchPrefix {
  std::string prefix;
};
struct MatchSubstring {
  std::string part;
};
/// Unset bounds do not apply.
struct NumberRange {
  std::optional<double> gt, gte, lt, lte;
};
struct TimeRange {
  std::optional<UtcMicroseconds> gt, gte, lt, lte;
};
/// The number of values at the key: the length of a list, 1 for any other value except null, 0 if there is none. Of several values at the
/// path, one must meet all bounds.
struct ValuesCount {
  NumberRange range;
};
struct GeoPoint {
  double lon = 0;
  double lat = 0;
};
struct GeoBox {
  GeoPoint top_left, bottom_right;  ///< May span the date line.
};
struct GeoRadius {
  GeoPoint centre;
  double metres = 0;
};
struct GeoPolygon {
  std::vector<GeoPoint> exterior;
  std::vector<std::vector<GeoPoint>> interiors;
};
/// Matches a missing value, null, or an empty list.
struct IsEmpty {};
/// Matches null, alone or in a list.
struct IsNull {};

using ValueTest = std::variant<MatchAny, MatchExcept, MatchWords, MatchPrefix, MatchSubstring, NumberRange, TimeRange, ValuesCount, GeoBox,
                               GeoRadius, GeoPolygon, IsEmpty, IsNull>;

struct FieldCondition {
  std::string field;  ///< As written by the client, which is also the name under which it may be declared.
  JsonPath path;
  ValueTest test;
};

struct PayloadFilter;
using SubFilter = std::shared_ptr<const PayloadFilter>;  // shared: a filter is immutable and is copied with its query

struct HasId {
  std::vector<PointId> ids;  ///< In ascending order.
};
struct HasVector {
  std::string name;  ///< The space's name; "" is the corpus's own space.
};
/// A single element of a list of objects must meet all conditions.
struct Nested {
  JsonPath path;
  SubFilter filter;
};
/// One of `total` partitions of all points, by hash of their ids.
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

/// A filter with its source text, used as cache key: equal texts mean equal filters.
struct PointFilter {
  PayloadFilter conditions;
  std::string text;
};

/// The single definition of filter semantics. Tests points one after the other, counts its steps, and splits each text into words only once
/// for all conditions.
class FilterRun {
 public:
  /// After `steps_max` steps nothing more is compared, and results are meaningless.
  explicit FilterRun(std::size_t steps_max = static_cast<std::size_t>(-1)) : steps_max_(steps_max) {}

  /// `payload` is the parsed payload of `point`.
  bool matches(const PayloadFilter& filter, const PointView& point, const JsonObject& payload);
  std::size_t steps() const { return steps_; }

 private:
  struct Meets;
  struct Words {
    std::vector<std::string> in_order;
    std::unordered_set<std::string_view> all;
  };
  bool meets(const FieldCondition& condition, const JsonObject& payload);
  bool holds_words(const MatchWords& wanted, const Json& value);
  /// Borrowed until the next point.
  const Words& words_of_value(const Json& value);
  /// False when no steps are left.
  bool step(std::size_t count = 1);

  const std::size_t steps_max_;
  std::size_t steps_ = 0;
  std::unordered_map<const Json*, Words> words_;  ///< Words of the current point's texts.
};

/// FilterRun for a single point.
bool matches(const PayloadFilter& filter, const PointView& point, const JsonObject& payload);

/// The lower-cased words of a text, as MatchWords compares them: runs of letters and digits.
std::vector<std::string> words_of(std::string_view text);

/// Which of `total` partitions a point belongs to.
std::uint64_t slice_of(const PointId& id, std::uint64_t total);

/// Converts an integer, text or bool of a payload to a key; nullopt for anything else.
std::optional<PayloadKey> key_of(const Json& value);

}  // namespace footnote::points
