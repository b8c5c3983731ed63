#include "access/key_text.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/ids.h"

namespace footnote::access {
namespace {

constexpr std::size_t kShownChars = 8;
constexpr std::size_t kOwnerChars = 43;  // 256 bits
constexpr std::string_view kAlphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

constexpr std::array<std::uint32_t, 256> make_crc_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t value = byte;
    for (int bit = 0; bit < 8; ++bit) value = (value & 1) != 0 ? (value >> 1) ^ 0xEDB88320U : value >> 1;
    table[byte] = value;
  }
  return table;
}

std::uint32_t crc32(std::string_view text) {
  static constexpr auto kTable = make_crc_table();
  std::uint32_t value = 0xFFFFFFFFU;
  for (const char c : text) value = kTable[(value ^ static_cast<unsigned char>(c)) & 0xFF] ^ (value >> 8);
  return ~value;
}

std::string check_of(std::string_view random) {
  std::string out(kKeyCheckChars, kAlphabet[0]);
  std::uint32_t rest = crc32(random);
  for (auto place = out.rbegin(); place != out.rend(); ++place) {
    *place = kAlphabet[rest % kAlphabet.size()];
    rest /= static_cast<std::uint32_t>(kAlphabet.size());
  }
  return out;
}

}  // namespace

std::string make_key_text() {
  const std::string random = random_base62(kKeyRandomChars);
  return std::string(kKeyPrefix) + random + check_of(random);
}

std::string make_owner_text() { return "fn_owner_" + random_base62(kOwnerChars); }

bool is_key_text(std::string_view text) {
  if (text.size() != kKeyChars || !text.starts_with(kKeyPrefix)) return false;
  const std::string_view rest = text.substr(kKeyPrefix.size());
  if (!std::ranges::all_of(rest, [](char c) { return kAlphabet.contains(c); })) return false;
  return check_of(rest.substr(0, kKeyRandomChars)) == rest.substr(kKeyRandomChars);
}

std::string display_prefix(std::string_view key_text) { return std::string(key_text.substr(0, kKeyPrefix.size() + kShownChars)); }

}  // namespace footnote::access
