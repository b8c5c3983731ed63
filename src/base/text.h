#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace footnote {

/// ASCII helpers: they leave every other byte alone.
std::string_view trim(std::string_view text);
std::string to_lower_ascii(std::string_view text);
std::vector<std::string_view> split(std::string_view text, char separator);
std::string join(const std::vector<std::string>& parts, std::string_view separator);
bool starts_with_ignoring_case(std::string_view text, std::string_view prefix);
/// Runs of white space become one space; none at the ends.
std::string fold_spaces(std::string_view text);

/// "ff00..." in lower case.
std::string to_hex(std::string_view bytes);

/// "1.2 MB", "830 KB", "12 B": decimal units, for people.
std::string human_bytes(std::uint64_t bytes);

/// Edit distance (Levenshtein), for "did you mean". Cut off at `limit`: a larger distance reads as limit + 1.
std::size_t edit_distance(std::string_view a, std::string_view b, std::size_t limit);

}  // namespace footnote
