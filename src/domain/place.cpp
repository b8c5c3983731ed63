#include "domain/place.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

namespace footnote {

namespace {

constexpr std::array<std::pair<PlaceUnit, std::string_view>, 6> kNames = {{{PlaceUnit::kNone, "none"},
                                                                           {PlaceUnit::kLine, "line"},
                                                                           {PlaceUnit::kPage, "page"},
                                                                           {PlaceUnit::kSlide, "slide"},
                                                                           {PlaceUnit::kRow, "row"},
                                                                           {PlaceUnit::kCell, "cell"}}};

}  // namespace

std::string_view to_string(PlaceUnit unit) {
  return std::ranges::find(kNames, unit, &std::pair<PlaceUnit, std::string_view>::first)->second;
}

std::optional<PlaceUnit> parse_place_unit(std::string_view name) {
  const auto* found = std::ranges::find(kNames, name, &std::pair<PlaceUnit, std::string_view>::second);
  return found == kNames.end() ? std::nullopt : std::optional(found->first);
}

int place_at(const Places& places, std::string_view text, std::size_t offset, int first) {
  const auto after = std::ranges::upper_bound(places.marks, offset, {}, &PlaceMark::offset);
  const bool has_mark = after != places.marks.begin();
  const int number = has_mark ? std::prev(after)->number : first;
  if (places.unit != PlaceUnit::kLine) return number;
  const std::size_t from = has_mark ? std::prev(after)->offset : 0;
  const std::size_t to = std::min(offset, text.size());
  return from >= to ? number : number + static_cast<int>(std::ranges::count(text.substr(from, to - from), '\n'));
}

std::string place_name(PlaceUnit unit, int number) {
  if (unit == PlaceUnit::kNone) return {};
  return unit == PlaceUnit::kPage ? fmt::format("p. {}", number) : fmt::format("{} {}", to_string(unit), number);
}

}  // namespace footnote
