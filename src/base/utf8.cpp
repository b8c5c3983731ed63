#include "base/utf8.h"

namespace footnote {

namespace {

/// Length of the well-formed sequence at `offset`, or 0.
std::size_t sequence_length(std::string_view text, std::size_t offset) {
  const auto byte = [&](std::size_t i) -> unsigned { return offset + i < text.size() ? static_cast<unsigned char>(text[offset + i]) : 0u; };
  const auto tail = [&](std::size_t i) { return (byte(i) & 0xC0) == 0x80; };
  const unsigned lead = byte(0);
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead <= 0xDF) return tail(1) ? 2 : 0;
  if (lead >= 0xE0 && lead <= 0xEF) {
    if (!tail(1) || !tail(2)) return 0;
    if (lead == 0xE0 && byte(1) < 0xA0) return 0;   // overlong
    if (lead == 0xED && byte(1) >= 0xA0) return 0;  // surrogate
    return 3;
  }
  if (lead >= 0xF0 && lead <= 0xF4) {
    if (!tail(1) || !tail(2) || !tail(3)) return 0;
    if (lead == 0xF0 && byte(1) < 0x90) return 0;   // overlong
    if (lead == 0xF4 && byte(1) >= 0x90) return 0;  // past U+10FFFF
    return 4;
  }
  return 0;
}

}  // namespace

std::size_t first_invalid_utf8(std::string_view text) {
  std::size_t offset = 0;
  while (offset < text.size()) {
    const std::size_t length = sequence_length(text, offset);
    if (length == 0) return offset;
    offset += length;
  }
  return text.size();
}

bool is_valid_utf8(std::string_view text) { return first_invalid_utf8(text) == text.size(); }

std::string repair_utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::size_t good = first_invalid_utf8(text);
    out += text.substr(0, good);
    if (good == text.size()) break;
    append_utf8(out, kReplacementCharacter);
    text.remove_prefix(good + 1);
  }
  return out;
}

char32_t next_code_point(std::string_view text, std::size_t& offset) {
  const std::size_t length = sequence_length(text, offset);
  const auto byte = [&](std::size_t i) { return static_cast<char32_t>(static_cast<unsigned char>(text[offset + i])); };
  char32_t out = kReplacementCharacter;
  switch (length) {
    case 1: out = byte(0); break;
    case 2: out = (byte(0) & 0x1F) << 6 | (byte(1) & 0x3F); break;
    case 3: out = (byte(0) & 0x0F) << 12 | (byte(1) & 0x3F) << 6 | (byte(2) & 0x3F); break;
    case 4: out = (byte(0) & 0x07) << 18 | (byte(1) & 0x3F) << 12 | (byte(2) & 0x3F) << 6 | (byte(3) & 0x3F); break;
    default: break;
  }
  offset += length == 0 ? 1 : length;
  return out;
}

void append_utf8(std::string& out, char32_t code_point) {
  char bytes[4];
  out.append(bytes, encode_utf8(code_point, bytes));
}

std::size_t count_code_points(std::string_view text) {
  std::size_t count = 0;
  for (char c : text) count += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  return count;
}

std::string_view utf8_prefix(std::string_view text, std::size_t bytes_max) {
  if (text.size() <= bytes_max) return text;
  while (bytes_max > 0 && !is_utf8_boundary(text, bytes_max)) --bytes_max;
  return text.substr(0, bytes_max);
}

std::string_view first_code_points(std::string_view text, std::size_t count) {
  std::size_t end = 0;
  for (; count > 0 && end < text.size(); --count) next_code_point(text, end);
  return text.substr(0, end);
}

}  // namespace footnote
