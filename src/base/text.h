#pragma once

#include <charconv>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace footnote {

/// ASCII helpers: bytes outside ASCII stay unchanged.
std::string_view trim(std::string_view text);
/// True for ASCII characters only; bytes of other characters are in no class.
constexpr bool is_ascii_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
constexpr bool is_ascii_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_ascii_upper(char c) { return c >= 'A' && c <= 'Z'; }
constexpr bool is_ascii_lower(char c) { return c >= 'a' && c <= 'z'; }
constexpr bool is_ascii_alphanumeric(char c) { return is_ascii_digit(c) || is_ascii_upper(c) || is_ascii_lower(c); }
constexpr char ascii_lower(char c) { return is_ascii_upper(c) ? static_cast<char>(c - 'A' + 'a') : c; }

std::string to_lower_ascii(std::string_view text);
std::vector<std::string_view> split(std::string_view text, char separator);
std::string join(const std::vector<std::string>& parts, std::string_view separator);
bool starts_with_ignoring_case(std::string_view text, std::string_view prefix);
/// Collapses runs of white space to one space, and trims both ends.
std::string fold_spaces(std::string_view text);

/// Parses all of `text` as a decimal integer, with an optional leading '-' if T is signed. nullopt for anything else, and for values
/// outside T's range.
template <std::integral T = std::int64_t>
std::optional<T> parse_whole_number(std::string_view text) {
  T value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// The value of a hexadecimal digit in either case; nullopt for any other character.
std::optional<std::uint8_t> hex_digit(char c);

/// Lower-case hexadecimal digits: "ff00...".
std::string to_hex(std::string_view bytes);

/// For people, in decimal units: "1.2 MB", "830 KB", "12 B".
std::string human_bytes(std::uint64_t bytes);

/// Levenshtein distance, for "did you mean". Stops at `limit`: any larger distance returns limit + 1.
std::size_t edit_distance(std::string_view a, std::string_view b, std::size_t limit);

}  // namespace footnote
