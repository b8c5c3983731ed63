#include "base/base64.h"

#include <algorithm>
#include <cstdint>

namespace footnote {

namespace {

/// The 6-bit value of a base64 character; -1 for any other character.
int sextet(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  if (c == '+') return 62;
  return c == '/' ? 63 : -1;
}

}  // namespace

void append_base64(std::string& out, std::string_view bytes) {
  static constexpr char kAlphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - at);
    std::uint32_t group = 0;
    for (std::size_t i = 0; i < 3; ++i) group = group << 8 | (i < count ? static_cast<unsigned char>(bytes[at + i]) : 0U);
    for (std::size_t i = 0; i < 4; ++i) out.push_back(i <= count ? kAlphabet[group >> (18 - 6 * i) & 63] : '=');
  }
}

Result<std::string> decode_base64(std::string_view text) {
  for (int padding = 0; padding < 2 && text.ends_with('='); ++padding) text.remove_suffix(1);
  if (text.size() % 4 == 1) return fail(ErrorCode::kInvalidArgument, "the base64 text is truncated");
  std::string out;
  std::uint32_t bits = 0;
  int held = 0;
  for (const char c : text) {
    const int value = sextet(c);
    if (value < 0) return fail(ErrorCode::kInvalidArgument, "the base64 text contains an invalid character");
    bits = bits << 6 | static_cast<std::uint32_t>(value);
    held += 6;
    if (held < 8) continue;
    held -= 8;
    out.push_back(static_cast<char>(bits >> held & 0xFF));
  }
  return out;
}

}  // namespace footnote
