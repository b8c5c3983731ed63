#include "points/payload_filter.h"

#include <unicode/uchar.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numbers>

#include "base/siphash.h"
#include "base/utf8.h"

namespace footnote::points {

namespace {

constexpr double kEarthRadiusMetres = 6'371'008.8;

template <class Range, class Value>
bool is_inside(const Range& range, const Value& value) {
  return (!range.gt || value > *range.gt) && (!range.gte || value >= *range.gte) && (!range.lt || value < *range.lt) &&
         (!range.lte || value <= *range.lte);
}

bool is_one_of(const KeySet& keys, const Json& value) {
  const auto key = key_of(value);
  return key && keys.contains(*key);
}

/// Reading this many bytes of text costs one step.
constexpr std::size_t kBytesPerStep = 16;

std::optional<GeoPoint> geo_of(const Json& value) {
  const JsonObject* object = value.if_object();
  const Json* lon = object == nullptr ? nullptr : object->if_contains("lon");
  const Json* lat = object == nullptr ? nullptr : object->if_contains("lat");
  if (lon == nullptr || lat == nullptr || !lon->is_number() || !lat->is_number()) return std::nullopt;
  return GeoPoint{lon->to_number<double>(), lat->to_number<double>()};
}

/// The edges are outside.
bool is_inside(const GeoBox& box, const GeoPoint& point) {
  if (point.lat >= box.top_left.lat || point.lat <= box.bottom_right.lat) return false;
  const bool east = point.lon > box.top_left.lon;
  const bool west = point.lon < box.bottom_right.lon;
  return box.top_left.lon <= box.bottom_right.lon ? east && west : east || west;
}

double metres_between(const GeoPoint& a, const GeoPoint& b) {
  const auto radians = [](double degrees) { return degrees * std::numbers::pi / 180; };
  const double lat = std::sin(radians(b.lat - a.lat) / 2);
  const double lon = std::sin(radians(b.lon - a.lon) / 2);
  const double square = lat * lat + std::cos(radians(a.lat)) * std::cos(radians(b.lat)) * lon * lon;
  return 2 * kEarthRadiusMetres * std::asin(std::min(1.0, std::sqrt(square)));
}

enum class Place { kInside, kOnEdge, kOutside };

bool is_on_edge(const GeoPoint& a, const GeoPoint& b, const GeoPoint& point) {
  const double cross = point.lon * (a.lat - b.lat) + a.lon * (b.lat - point.lat) + b.lon * (point.lat - a.lat);
  return cross == 0 && (a.lat - point.lat) * (b.lat - point.lat) <= 0 && (a.lon - point.lon) * (b.lon - point.lon) <= 0;
}

/// Counts how often a ray to the east crosses the ring: an odd number means inside.
Place place_in(const std::vector<GeoPoint>& ring, const GeoPoint& point) {
  bool inside = false;
  for (std::size_t i = 0, j = ring.size() - 1; i < ring.size(); j = i++) {
    const GeoPoint &a = ring[i], &b = ring[j];
    if (is_on_edge(a, b, point)) return Place::kOnEdge;
    if ((a.lat > point.lat) == (b.lat > point.lat)) continue;
    if (point.lon < (b.lon - a.lon) * (point.lat - a.lat) / (b.lat - a.lat) + a.lon) inside = !inside;
  }
  return inside ? Place::kInside : Place::kOutside;
}

/// Whether one value meets a single-value test.
struct MeetsValue {
  const Json& value;

  bool operator()(const MatchAny& test) const { return is_one_of(test.values, value); }
  bool operator()(const MatchExcept& test) const { return !value.is_null() && !is_one_of(test.values, value); }
  bool operator()(const MatchWords&) const { return false; }  // see FilterRun::holds_words
  bool operator()(const MatchPrefix& test) const { return value.is_string() && value.get_string().starts_with(test.prefix); }
  bool operator()(const MatchSubstring& test) const {
    return value.is_string() && std::string_view(value.get_string()).find(test.part) != std::string_view::npos;
  }
  bool operator()(const NumberRange& test) const { return value.is_number() && is_inside(test, value.to_number<double>()); }
  bool operator()(const TimeRange& test) const {
    if (!value.is_string()) return false;
    const auto time = parse_any_time(value.get_string());
    return time && is_inside(test, *time);
  }
  bool operator()(const GeoBox& test) const {
    const auto point = geo_of(value);
    return point && is_inside(test, *point);
  }
  bool operator()(const GeoRadius& test) const {
    const auto point = geo_of(value);
    return point && metres_between(test.centre, *point) < test.metres;
  }
  bool operator()(const GeoPolygon& test) const {
    const auto point = geo_of(value);
    return point && place_in(test.exterior, *point) == Place::kInside &&
           std::ranges::all_of(test.interiors, [&](const auto& ring) { return place_in(ring, *point) == Place::kOutside; });
  }
  bool operator()(const IsNull&) const { return false; }       // applies to the whole key: see meets
  bool operator()(const IsEmpty&) const { return false; }      // applies to the whole key: see meets
  bool operator()(const ValuesCount&) const { return false; }  // applies to the whole key: see meets
};

bool is_empty(const Json& value) { return value.is_null() || (value.is_array() && value.get_array().empty()); }

/// Null, or a list with a null in it.
bool is_null(const Json& value) {
  return value.is_null() ||
         (value.is_array() && std::ranges::any_of(value.get_array(), [](const Json& element) { return element.is_null(); }));
}

std::size_t count_of(const Json& value) {
  if (const JsonArray* list = value.if_array()) return list->size();
  return value.is_null() ? 0 : 1;
}

/// Whether a test holds for one of the values at a path. A list is one value.
template <class Test>
bool any_value(const JsonObject& payload, const JsonPath& path, const Test& test) {
  bool any = false;
  visit_values(payload, path, [&](const Json& value) { any = any || test(value); });
  return any;
}

/// The cost of a test for one value, in steps.
std::size_t cost_of(const ValueTest& test) {
  const auto* polygon = std::get_if<GeoPolygon>(&test);
  if (polygon == nullptr) return 1;
  std::size_t corners = polygon->exterior.size();
  for (const auto& ring : polygon->interiors) corners += ring.size();
  return 1 + corners;
}

}  // namespace

KeySet::KeySet(std::vector<PayloadKey> keys) : keys_(std::move(keys)) {
  std::ranges::sort(keys_);
  const auto repeated = std::ranges::unique(keys_);
  keys_.erase(repeated.begin(), repeated.end());
}

bool KeySet::contains(const PayloadKey& key) const { return std::ranges::binary_search(keys_, key); }

/// Whether a point meets one condition.
struct FilterRun::Meets {
  FilterRun& run;
  const PointView& point;
  const JsonObject& payload;

  bool operator()(const Condition& condition) const { return run.step() && std::visit(*this, condition); }
  bool operator()(const FieldCondition& condition) const { return run.meets(condition, payload); }
  bool operator()(const HasId& condition) const { return std::ranges::binary_search(condition.ids, point.id); }
  bool operator()(const HasVector& condition) const { return std::ranges::find(point.vectors, condition.name) != point.vectors.end(); }
  bool operator()(const Nested& condition) const {
    bool any = false;
    visit_values(payload, condition.path, [&](const Json& value) {
      if (!value.is_array()) return;
      for (const Json& entry : value.get_array()) {
        const JsonObject* element = entry.if_object();
        any = any || (run.step() && element != nullptr && Meets{run, point, *element}.all_of(*condition.filter));
      }
    });
    return any;
  }
  bool operator()(const Slice& condition) const { return slice_of(point.id, condition.total) == condition.index; }
  bool operator()(const SubFilter& filter) const { return all_of(*filter); }

  bool all_of(const PayloadFilter& filter) const {
    if (!std::ranges::all_of(filter.must, *this)) return false;
    if (std::ranges::any_of(filter.must_not, *this)) return false;
    if (!filter.should.empty() && std::ranges::none_of(filter.should, *this)) return false;
    return static_cast<std::size_t>(std::ranges::count_if(filter.min_should, *this)) >= filter.min_should_count;
  }
};

bool FilterRun::step(std::size_t count) {
  steps_ += count;
  return steps_ <= steps_max_;
}

const FilterRun::Words& FilterRun::words_of_value(const Json& value) {
  const auto [place, is_new] = words_.try_emplace(&value);
  Words& words = place->second;
  if (is_new) {
    step(value.get_string().size() / kBytesPerStep);
    words.in_order = words_of(value.get_string());
    words.all.insert(words.in_order.begin(), words.in_order.end());
  }
  return words;
}

bool FilterRun::holds_words(const MatchWords& wanted, const Json& value) {
  if (!value.is_string() || wanted.words.empty()) return false;
  const Words& words = words_of_value(value);
  const auto has = [&](const std::string& word) { return step() && words.all.contains(word); };
  switch (wanted.mode) {
    case MatchWords::Mode::kAll: return std::ranges::all_of(wanted.words, has);
    case MatchWords::Mode::kAny: return std::ranges::any_of(wanted.words, has);
    case MatchWords::Mode::kPhrase:
      if (!std::ranges::all_of(wanted.words, has) || !step(words.in_order.size())) return false;
      return std::search(words.in_order.begin(), words.in_order.end(),
                         std::boyer_moore_horspool_searcher(wanted.words.begin(), wanted.words.end())) != words.in_order.end();
  }
  return false;
}

bool FilterRun::meets(const FieldCondition& condition, const JsonObject& payload) {
  if (std::holds_alternative<IsEmpty>(condition.test)) return !any_value(payload, condition.path, std::not_fn(is_empty));
  if (std::holds_alternative<IsNull>(condition.test)) return any_value(payload, condition.path, is_null);
  if (const auto* test = std::get_if<ValuesCount>(&condition.test)) {
    const auto fits = [&](const Json& value) { return is_inside(test->range, static_cast<double>(count_of(value))); };
    const bool is_missing = !any_value(payload, condition.path, [](const Json&) { return true; });
    return is_missing ? is_inside(test->range, 0.0) : any_value(payload, condition.path, fits);
  }
  const auto* words = std::get_if<MatchWords>(&condition.test);
  const std::size_t cost = cost_of(condition.test);
  bool any = false;
  visit_elements(payload, condition.path, [&](const Json& value) {
    if (any || !step(cost)) return;
    any = words != nullptr ? holds_words(*words, value) : std::visit(MeetsValue{value}, condition.test);
  });
  return any;
}

bool FilterRun::matches(const PayloadFilter& filter, const PointView& point, const JsonObject& payload) {
  words_.clear();
  step(1 + point.payload.size() / kBytesPerStep / kBytesPerStep);
  return Meets{*this, point, payload}.all_of(filter);
}

bool matches(const PayloadFilter& filter, const PointView& point, const JsonObject& payload) {
  return FilterRun().matches(filter, point, payload);
}

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> out;
  bool in_word = false;
  for (std::size_t at = 0; at < text.size();) {
    const char32_t c = next_code_point(text, at);
    const bool letter = u_isalnum(static_cast<UChar32>(c)) != 0;
    if (letter) {
      if (!in_word) out.emplace_back();
      append_utf8(out.back(), static_cast<char32_t>(u_tolower(static_cast<UChar32>(c))));
    }
    in_word = letter;
  }
  return out;
}

std::uint64_t slice_of(const PointId& id, std::uint64_t total) {
  if (const auto* number = std::get_if<std::uint64_t>(&id.value)) {
    std::array<std::uint8_t, 8> bytes;
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(*number >> (8 * i));
    return siphash24(bytes) % total;
  }
  return siphash24(std::get<Uuid>(id.value).bytes) % total;
}

std::optional<PayloadKey> key_of(const Json& value) {
  if (value.is_string()) return PayloadKey{std::string(value.get_string())};
  if (value.is_int64()) return PayloadKey{value.get_int64()};
  if (value.is_bool()) return PayloadKey{value.get_bool()};
  return std::nullopt;
}

}  // namespace footnote::points
