#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace footnote {

/// The unit in which places in a document are counted, from 1. kNone: the format has no such numbers; citations then name headings only.
enum class PlaceUnit { kNone, kLine, kPage, kSlide, kRow, kCell };

/// "none", "line", "page", "slide", "row", "cell"
std::string_view to_string(PlaceUnit unit);
std::optional<PlaceUnit> parse_place_unit(std::string_view name);

/// From this byte of a text on, the place in the original file is `number`.
struct PlaceMark {
  std::uint32_t offset = 0;
  std::int32_t number = 1;

  bool operator==(const PlaceMark&) const = default;
};

/// Maps a text to places in the file that it was extracted from. The place of a byte is the number of the last mark at or before it; for
/// kLine, each line end after the mark adds 1.
struct Places {
  PlaceUnit unit = PlaceUnit::kLine;
  std::vector<PlaceMark> marks;  ///< In ascending order. Empty: the lines of the text are those of the file.

  bool operator==(const Places&) const = default;
};

/// The place of byte `offset` of `text`, whose first byte is at `first`.
int place_at(const Places& places, std::string_view text, std::size_t offset, int first);

/// For people: "line 107", "p. 12", "slide 3", "row 14", "cell 5"; empty for kNone.
std::string place_name(PlaceUnit unit, int number);

}  // namespace footnote
