#include "api/qdrant_filter.h"

#include <algorithm>
#include <set>

namespace footnote::api {

namespace {

using namespace points;

using qdrant::wrong;

Result<const JsonObject*> object_at(const Json& value, std::string_view path) {
  if (const JsonObject* object = value.if_object()) return object;
  return wrong(path, "must be an object");
}

/// kInvalidArgument for any key not in `known`.
Result<void> only(const JsonObject& object, std::string_view path, std::initializer_list<std::string_view> known) {
  for (const auto& entry : object) {
    if (std::ranges::find(known, std::string_view(entry.key())) == known.end()) {
      return wrong(fmt::format("{}.{}", path, std::string_view(entry.key())), "is not known here");
    }
  }
  return {};
}

Result<double> number_at(const JsonObject& object, std::string_view key, std::string_view path) {
  const Json* value = object.if_contains(key);
  if (value == nullptr || !value->is_number()) return wrong(fmt::format("{}.{}", path, key), "must be a number");
  return value->to_number<double>();
}

Result<PayloadKey> parse_value(const Json& value, std::string_view path) {
  if (auto key = key_of(value)) return *std::move(key);
  return wrong(path, "must be a string, an integer or a bool");
}

Result<std::vector<PayloadKey>> parse_values(const Json& value, std::string_view path) {
  const JsonArray* list = value.if_array();
  if (list == nullptr) return wrong(path, "must be a list of strings or integers");
  std::vector<PayloadKey> out;
  for (const Json& entry : *list) {
    FOOTNOTE_TRY(PayloadKey key, parse_value(entry, path));
    out.push_back(std::move(key));
  }
  return out;
}

Result<std::string> parse_text(const Json& value, std::string_view path) {
  if (const auto* text = value.if_string()) return std::string(*text);
  return wrong(path, "must be a text");
}

Result<ValueTest> parse_match(const Json& value, std::string_view path) {
  FOOTNOTE_TRY(const JsonObject* object, object_at(value, path));
  FOOTNOTE_CHECK(only(*object, path, {"value", "any", "except", "text", "text_any", "phrase", "prefix", "substring"}));
  if (object->size() != 1) return wrong(path, "takes one of value, any, except, text, text_any, phrase, prefix, substring");
  const std::string_view kind = object->begin()->key();
  const Json& given = object->begin()->value();
  const std::string at = fmt::format("{}.{}", path, kind);
  if (kind == "value") {
    FOOTNOTE_TRY(PayloadKey key, parse_value(given, at));
    return MatchAny{{std::move(key)}};
  }
  if (kind == "any" || kind == "except") {
    FOOTNOTE_TRY(auto keys, parse_values(given, at));
    if (kind == "any") return MatchAny{std::move(keys)};
    return MatchExcept{std::move(keys)};
  }
  FOOTNOTE_TRY(std::string text, parse_text(given, at));
  if (kind == "prefix") return MatchPrefix{std::move(text)};
  if (kind == "substring") return MatchSubstring{std::move(text)};
  const auto mode = kind == "text" ? MatchWords::Mode::kAll : kind == "text_any" ? MatchWords::Mode::kAny : MatchWords::Mode::kPhrase;
  return MatchWords{mode, words_of(text)};
}

/// One bound of a range, as a number or a time.
Result<void> take_bound(const Json& value, std::string_view path, std::optional<double>& number, std::optional<UtcMicroseconds>& time) {
  if (value.is_null()) return {};
  if (value.is_number()) {
    number = value.to_number<double>();
    return {};
  }
  const auto* text = value.if_string();
  const auto parsed = text == nullptr ? std::nullopt : parse_any_time(*text);
  if (!parsed) return wrong(path, "must be a number or a time (RFC 3339)");
  time = *parsed;
  return {};
}

Result<ValueTest> parse_range(const Json& value, std::string_view path) {
  FOOTNOTE_TRY(const JsonObject* object, object_at(value, path));
  FOOTNOTE_CHECK(only(*object, path, {"gt", "gte", "lt", "lte"}));
  NumberRange numbers;
  TimeRange times;
  for (const auto& entry : *object) {
    const std::string_view key = entry.key();
    const std::string at = fmt::format("{}.{}", path, key);
    auto& number = key == "gt" ? numbers.gt : key == "gte" ? numbers.gte : key == "lt" ? numbers.lt : numbers.lte;
    auto& time = key == "gt" ? times.gt : key == "gte" ? times.gte : key == "lt" ? times.lt : times.lte;
    FOOTNOTE_CHECK(take_bound(entry.value(), at, number, time));
  }
  const bool of_numbers = numbers.gt || numbers.gte || numbers.lt || numbers.lte;
  const bool of_times = times.gt || times.gte || times.lt || times.lte;
  if (of_numbers && of_times) return wrong(path, "mixes numbers and times");
  if (!of_numbers && !of_times) return wrong(path, "has no bound");
  if (of_times) return times;
  return numbers;
}

Result<ValueTest> parse_values_count(const Json& value, std::string_view path) {
  FOOTNOTE_TRY(ValueTest range, parse_range(value, path));
  if (auto* numbers = std::get_if<NumberRange>(&range)) return ValuesCount{*numbers};
  return wrong(path, "takes numbers");
}

Result<GeoPoint> parse_geo_point(const Json* value, std::string_view path) {
  const JsonObject* object = value == nullptr ? nullptr : value->if_object();
  if (object == nullptr) return wrong(path, "must be {{\"lon\", \"lat\"}}");
  FOOTNOTE_CHECK(only(*object, path, {"lon", "lat"}));
  GeoPoint out;
  FOOTNOTE_TRY(out.lon, number_at(*object, "lon", path));
  FOOTNOTE_TRY(out.lat, number_at(*object, "lat", path));
  if (out.lon < -180 || out.lon > 180 || out.lat < -90 || out.lat > 90) return wrong(path, "is not a position on the globe");
  return out;
}

Result<ValueTest> parse_geo_box(const Json& value, std::string_view path) {
  FOOTNOTE_TRY(const JsonObject* object, object_at(value, path));
  FOOTNOTE_CHECK(only(*object, path, {"top_left", "bottom_right"}));
  GeoBox out;
  FOOTNOTE_TRY(out.top_left, parse_geo_point(object->if_contains("top_left"), fmt::format("{}.top_left", path)));
  FOOTNOTE_TRY(out.bottom_right, parse_geo_point(object->if_contains("bottom_right"), fmt::format("{}.bottom_right", path)));
  return out;
}

Result<ValueTest> parse_geo_radius(const Json& value, std::string_view path) {
  FOOTNOTE_TRY(const JsonObject* object, object_at(value, path));
  FOOTNOTE_CHECK(only(*object, path, {"center", "radius"}));
  GeoRadius out;
  FOOTNOTE_TRY(out.centre, parse_geo_point(object->if_contains("center"), fmt::format("{}.center", path)));
  FOOTNOTE_TRY(out.metres, number_at(*object, "radius", path));
  return out;
}

Result<std::vector<GeoPoint>> parse_ring(const Json* value, std::string_view path) {
  constexpr std::size_t kRingPointsMin = 4;  // the last repeats the first
  const JsonObject* object = value == nullptr ? nullptr : value->if_object();
  const Json* points = object == nullptr ? nullptr : object->if_contains("points");
  if (points == nullptr || !points->is_array()) return wrong(path, "must be {{\"points\": [...]}}");
  FOOTNOTE_CHECK(only(*object, path, {"points"}));
  std::vector<GeoPoint> out;
  for (const Json& entry : points->get_array()) {
    FOOTNOTE_TRY(const GeoPoint point, parse_geo_point(&entry, path));
    out.push_back(point);
  }
  if (out.size() < kRingPointsMin) return wrong(path, "needs at least {} points", kRingPointsMin);
  if (out.front().lon != out.back().lon || out.front().lat != out.back().lat) return wrong(path, "must end at its first point");
  return out;
}

Result<ValueTest> parse_geo_polygon(const Json& value, std::string_view path) {
  FOOTNOTE_TRY(const JsonObject* object, object_at(value, path));
  FOOTNOTE_CHECK(only(*object, path, {"exterior", "interiors"}));
  GeoPolygon out;
  FOOTNOTE_TRY(out.exterior, parse_ring(object->if_contains("exterior"), fmt::format("{}.exterior", path)));
  const Json* interiors = object->if_contains("interiors");
  if (interiors == nullptr || interiors->is_null()) return out;
  if (!interiors->is_array()) return wrong(fmt::format("{}.interiors", path), "must be a list");
  for (const Json& entry : interiors->get_array()) {
    FOOTNOTE_TRY(auto ring, parse_ring(&entry, fmt::format("{}.interiors", path)));
    out.interiors.push_back(std::move(ring));
  }
  return out;
}

/// Parses one filter and its nested ones, counting conditions.
class FilterReader {
 public:
  Result<PayloadFilter> filter(const Json& value, std::string_view path, std::size_t depth) {
    if (depth > kFilterDepthMax) return wrong(path, "is nested more than {} filters deep", kFilterDepthMax);
    FOOTNOTE_TRY(const JsonObject* object, object_at(value, path));
    FOOTNOTE_CHECK(only(*object, path, {"must", "should", "must_not", "min_should"}));
    PayloadFilter out;
    FOOTNOTE_CHECK(conditions(*object, "must", path, depth, out.must));
    FOOTNOTE_CHECK(conditions(*object, "should", path, depth, out.should));
    FOOTNOTE_CHECK(conditions(*object, "must_not", path, depth, out.must_not));
    const Json* min_should = object->if_contains("min_should");
    if (min_should == nullptr || min_should->is_null()) return out;
    const std::string at = fmt::format("{}.min_should", path);
    FOOTNOTE_TRY(const JsonObject* inner, object_at(*min_should, at));
    FOOTNOTE_CHECK(only(*inner, at, {"conditions", "min_count"}));
    FOOTNOTE_CHECK(conditions(*inner, "conditions", at, depth, out.min_should));
    FOOTNOTE_TRY(const double count, number_at(*inner, "min_count", at));
    if (count < 1 || count > static_cast<double>(kFilterConditionsMax)) return wrong(at + ".min_count", "is out of range");
    out.min_should_count = static_cast<std::size_t>(count);
    return out;
  }

 private:
  Result<void> conditions(const JsonObject& object, std::string_view key, std::string_view path, std::size_t depth,
                          std::vector<Condition>& out) {
    const Json* value = object.if_contains(key);
    if (value == nullptr || value->is_null()) return {};
    const std::string at = fmt::format("{}.{}", path, key);
    if (const JsonArray* list = value->if_array()) {
      for (const Json& entry : *list) {
        FOOTNOTE_TRY(Condition next, condition(entry, fmt::format("{}[{}]", at, out.size()), depth));
        out.push_back(std::move(next));
      }
      return {};
    }
    FOOTNOTE_TRY(Condition next, condition(*value, at, depth));
    out.push_back(std::move(next));
    return {};
  }

  Result<Condition> condition(const Json& value, const std::string& path, std::size_t depth) {
    if (++count_ > kFilterConditionsMax)
      return wrong(path, "is one condition more than the {} that a filter may have", kFilterConditionsMax);
    FOOTNOTE_TRY(const JsonObject* object, object_at(value, path));
    if (object->contains("key")) return field(*object, path);
    if (object->empty()) return Condition{std::make_shared<const PayloadFilter>()};
    const std::string_view kind = object->begin()->key();
    const Json& given = object->begin()->value();
    const std::string at = fmt::format("{}.{}", path, kind);
    const bool single =
        kind == "is_empty" || kind == "is_null" || kind == "has_id" || kind == "has_vector" || kind == "nested" || kind == "slice";
    if (!single) {
      FOOTNOTE_TRY(PayloadFilter inner, filter(value, path, depth + 1));
      return Condition{std::make_shared<const PayloadFilter>(std::move(inner))};
    }
    if (object->size() != 1) return wrong(path, "holds more than the condition {}", kind);
    if (kind == "has_id") {
      FOOTNOTE_TRY(auto ids, parse_ids(given, at));
      std::ranges::sort(ids);
      ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
      return HasId{std::move(ids)};
    }
    if (kind == "has_vector") {
      FOOTNOTE_TRY(std::string name, parse_text(given, at));
      return HasVector{std::move(name)};
    }
    FOOTNOTE_TRY(const JsonObject* inner, object_at(given, at));
    if (kind == "nested") return nested(*inner, at, depth);
    if (kind == "slice") return slice(*inner, at);
    FOOTNOTE_CHECK(only(*inner, at, {"key"}));
    const Json* key = inner->if_contains("key");
    if (key == nullptr) return wrong(at, "needs a key");
    FOOTNOTE_TRY(JsonPath where, parse_key(*key, at + ".key"));
    const ValueTest test = kind == "is_empty" ? ValueTest(IsEmpty{}) : ValueTest(IsNull{});
    return FieldCondition{std::string(key->get_string()), std::move(where), test};
  }

  Result<Condition> nested(const JsonObject& object, const std::string& path, std::size_t depth) {
    FOOTNOTE_CHECK(only(object, path, {"key", "filter"}));
    const Json* key = object.if_contains("key");
    const Json* inner = object.if_contains("filter");
    if (key == nullptr || inner == nullptr) return wrong(path, "needs a key and a filter");
    FOOTNOTE_TRY(JsonPath where, parse_key(*key, path + ".key"));
    if (where.steps.back().kind == JsonPath::Kind::kEach) where.steps.pop_back();  // "items" and "items[]" both mean the elements
    FOOTNOTE_TRY(PayloadFilter conditions, filter(*inner, path + ".filter", depth + 1));
    return Nested{std::move(where), std::make_shared<const PayloadFilter>(std::move(conditions))};
  }

  static Result<Condition> slice(const JsonObject& object, const std::string& path) {
    FOOTNOTE_CHECK(only(object, path, {"total", "index"}));
    FOOTNOTE_TRY(const double total, number_at(object, "total", path));
    FOOTNOTE_TRY(const double index, number_at(object, "index", path));
    if (total < 1 || total > 1e9 || index < 0 || index >= total) return wrong(path, "needs 0 <= index < total");
    return Slice{static_cast<std::uint64_t>(total), static_cast<std::uint64_t>(index)};
  }

  /// All tests on one key; several at once must all hold.
  Result<Condition> field(const JsonObject& object, const std::string& path) {
    using Parse = Result<ValueTest> (*)(const Json&, std::string_view);
    constexpr std::pair<std::string_view, Parse> kTests[] = {{"match", parse_match},
                                                             {"range", parse_range},
                                                             {"values_count", parse_values_count},
                                                             {"geo_bounding_box", parse_geo_box},
                                                             {"geo_radius", parse_geo_radius},
                                                             {"geo_polygon", parse_geo_polygon}};
    FOOTNOTE_TRY(const JsonPath where, parse_key(object.at("key"), path + ".key"));
    const std::string name(object.at("key").get_string());
    PayloadFilter all;
    for (const auto& entry : object) {
      const std::string_view kind = entry.key();
      const Json& given = entry.value();
      const std::string at = fmt::format("{}.{}", path, kind);
      if (kind == "key" || given.is_null()) continue;
      if (kind == "is_empty" || kind == "is_null") {
        if (!given.is_bool()) return wrong(at, "must be true or false");
        FieldCondition test{name, where, kind == "is_empty" ? ValueTest(IsEmpty{}) : ValueTest(IsNull{})};
        (given.get_bool() ? all.must : all.must_not).emplace_back(std::move(test));
        continue;
      }
      const auto known = std::ranges::find(kTests, kind, &std::pair<std::string_view, Parse>::first);
      if (known == std::end(kTests)) return wrong(at, "is not known here");
      FOOTNOTE_TRY(ValueTest test, known->second(given, at));
      all.must.emplace_back(FieldCondition{name, where, std::move(test)});
    }
    if (all.empty()) return wrong(path, "has no condition on its key");
    if (all.must.size() == 1 && all.must_not.empty()) return std::move(all.must.front());
    return Condition{std::make_shared<const PayloadFilter>(std::move(all))};
  }

  std::size_t count_ = 0;
};

}  // namespace

Result<PointFilter> parse_filter(const Json& value, std::string_view path) {
  if (value.is_null()) return PointFilter{.conditions = {}, .text = "{}"};
  FOOTNOTE_TRY(PayloadFilter conditions, FilterReader().filter(value, path, 1));
  return PointFilter{.conditions = std::move(conditions), .text = to_text(value)};
}

Result<PointId> parse_id(const Json& value, std::string_view path) {
  if (value.is_uint64()) return PointId{value.get_uint64()};
  if (value.is_int64() && value.get_int64() >= 0) return PointId{static_cast<std::uint64_t>(value.get_int64())};
  if (const auto* text = value.if_string()) {
    if (const auto uuid = parse_uuid(*text)) return PointId{*uuid};
  }
  return wrong(path, "must be a non-negative integer or a UUID");
}

Result<std::vector<PointId>> parse_ids(const Json& value, std::string_view path) {
  const JsonArray* list = value.if_array();
  if (list == nullptr) return wrong(path, "must be a list of ids");
  std::vector<PointId> out;
  out.reserve(list->size());
  for (const Json& entry : *list) {
    FOOTNOTE_TRY(const PointId id, parse_id(entry, fmt::format("{}[{}]", path, out.size())));
    out.push_back(id);
  }
  return out;
}

Result<JsonPath> parse_key(const Json& value, std::string_view path) {
  const auto* text = value.if_string();
  if (text == nullptr) return wrong(path, "must be a text");
  auto parsed = parse_json_path(*text);
  if (!parsed) return wrong(path, "{}", parsed.error().message);
  return parsed;
}

}  // namespace footnote::api
