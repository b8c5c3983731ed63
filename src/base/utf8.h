#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace footnote {

/// U+FFFD, which replaces malformed sequences.
inline constexpr char32_t kReplacementCharacter = 0xFFFD;

/// True when `text` is well-formed UTF-8: no overlong forms, no surrogates, nothing above U+10FFFF.
bool is_valid_utf8(std::string_view text);

/// The byte offset of the first malformed sequence, or text.size() when there is none.
std::size_t first_invalid_utf8(std::string_view text);

/// Replaces each malformed sequence with U+FFFD; well-formed text is unchanged.
std::string repair_utf8(std::string_view text);

/// Reads the code point at `offset` and advances the offset past it. A malformed sequence reads as U+FFFD and advances by one byte.
/// REQUIRES: offset < text.size().
char32_t next_code_point(std::string_view text, std::size_t& offset);

void append_utf8(std::string& out, char32_t code_point);

/// Writes a code point as 1 to 4 bytes and returns the number of bytes. REQUIRES: room for 4.
inline std::size_t encode_utf8(char32_t c, char* out) {
  if (c < 0x80) {
    out[0] = static_cast<char>(c);
    return 1;
  }
  if (c < 0x800) {
    out[0] = static_cast<char>(0xC0 | (c >> 6));
    out[1] = static_cast<char>(0x80 | (c & 0x3F));
    return 2;
  }
  if (c < 0x10000) {
    out[0] = static_cast<char>(0xE0 | (c >> 12));
    out[1] = static_cast<char>(0x80 | ((c >> 6) & 0x3F));
    out[2] = static_cast<char>(0x80 | (c & 0x3F));
    return 3;
  }
  out[0] = static_cast<char>(0xF0 | (c >> 18));
  out[1] = static_cast<char>(0x80 | ((c >> 12) & 0x3F));
  out[2] = static_cast<char>(0x80 | ((c >> 6) & 0x3F));
  out[3] = static_cast<char>(0x80 | (c & 0x3F));
  return 4;
}

/// The length in bytes of the sequence that starts with `lead`, in well-formed text.
inline std::size_t utf8_sequence_bytes(char lead) {
  const auto byte = static_cast<unsigned char>(lead);
  return byte < 0x80 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
}

/// The number of code points in well-formed text.
std::size_t count_code_points(std::string_view text);

/// The longest prefix of at most `bytes_max` bytes that does not split a code point.
std::string_view utf8_prefix(std::string_view text, std::size_t bytes_max);

/// The first `count` code points of `text`, or all of it.
std::string_view first_code_points(std::string_view text, std::size_t count);

/// True when `offset` starts a code point of `text` or is its end.
inline bool is_utf8_boundary(std::string_view text, std::size_t offset) {
  return offset >= text.size() || (static_cast<unsigned char>(text[offset]) & 0xC0) != 0x80;
}

}  // namespace footnote
