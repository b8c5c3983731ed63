#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace footnote {

/// What the places of a document are counted in, always from 1. kNone: its format has no such numbers, and headings have to do.
enum class PlaceUnit { kNone, kLine, kPage, kSlide, kRow, kCell };

/// "none", "line", "page", "slide", "row", "cell"
std::string_view to_string(PlaceUnit unit);
std::optional<PlaceUnit> parse_place_unit(std::string_view name);

/// From this byte of a text on, its place in the original is `number`.
struct PlaceMark {
  std::uint32_t offset = 0;
  std::int32_t number = 1;

  bool operator==(const PlaceMark&) const = default;
};

/// Where the parts of a text are in the file that it was taken from. The place of a byte is the number of the last mark at or before it;
/// lines also go on by one with each line end after the mark.
struct Places {
  PlaceUnit unit = PlaceUnit::kLine;
  std::vector<PlaceMark> marks;  ///< In order. Empty: the text's lines are the file's.

  bool operator==(const Places&) const = default;
};

/// The place of a byte of `text`, whose first byte is at `first`.
int place_at(const Places& places, std::string_view text, std::size_t offset, int first);

/// For people: "line 107", "p. 12", "slide 3", "row 14", "cell 5"; empty for kNone.
std::string place_name(PlaceUnit unit, int number);

}  // namespace footnote
