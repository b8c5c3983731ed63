#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace footnote {

/// ASCII helpers: bytes outside ASCII stay unchanged.
std::string_view trim(std::string_view text);
std::string to_lower_ascii(std::string_view text);
std::vector<std::string_view> split(std::string_view text, char separator);
std::string join(const std::vector<std::string>& parts, std::string_view separator);
bool starts_with_ignoring_case(std::string_view text, std::string_view prefix);
/// Collapses runs of white space to one space, and trims both ends.
std::string fold_spaces(std::string_view text);

/// Lower-case hexadecimal digits: "ff00...".
std::string to_hex(std::string_view bytes);

/// For people, in decimal units: "1.2 MB", "830 KB", "12 B".
std::string human_bytes(std::uint64_t bytes);

/// Levenshtein distance, for "did you mean". Stops at `limit`: any larger distance returns limit + 1.
std::size_t edit_distance(std::string_view a, std::string_view b, std::size_t limit);

}  // namespace footnote
