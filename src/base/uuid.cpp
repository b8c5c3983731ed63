#include "base/uuid.h"

#include <openssl/evp.h>

#include <algorithm>
#include <new>

#include "base/text.h"

namespace footnote {

namespace {

constexpr std::string_view kUrn = "urn:uuid:";
constexpr std::size_t kHyphenAt[] = {8, 13, 18, 23};
constexpr std::size_t kTextChars = 36;
constexpr std::size_t kPlainChars = 32;
constexpr std::size_t kSha1Bytes = 20;

/// RFC 9562's namespace for URLs.
constexpr Uuid kUrlSpace{{0x6b, 0xa7, 0xb8, 0x11, 0x9d, 0xad, 0x11, 0xd1, 0x80, 0xb4, 0x00, 0xc0, 0x4f, 0xd4, 0x30, 0xc8}};

bool is_hyphen_place(std::size_t at) { return std::ranges::find(kHyphenAt, at) != std::end(kHyphenAt); }

}  // namespace

std::optional<Uuid> parse_uuid(std::string_view text) {
  if (starts_with_ignoring_case(text, kUrn)) text.remove_prefix(kUrn.size());
  const bool hyphens = text.size() == kTextChars;
  if (!hyphens && text.size() != kPlainChars) return std::nullopt;
  Uuid out;
  std::size_t digits = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (hyphens && is_hyphen_place(at)) {
      if (text[at] != '-') return std::nullopt;
      continue;
    }
    const auto digit = hex_digit(text[at]);
    if (!digit) return std::nullopt;
    out.bytes[digits / 2] = static_cast<std::uint8_t>(out.bytes[digits / 2] << 4 | *digit);
    ++digits;
  }
  return out;
}

std::string to_string(const Uuid& uuid) {
  std::string out = to_hex({reinterpret_cast<const char*>(uuid.bytes.data()), uuid.bytes.size()});
  for (const std::size_t at : kHyphenAt) out.insert(at, 1, '-');
  return out;
}

Uuid uuid_of_url(std::string_view name) {
  std::string text(reinterpret_cast<const char*>(kUrlSpace.bytes.data()), kUrlSpace.bytes.size());
  text += name;
  std::array<unsigned char, kSha1Bytes> digest{};
  // Fails only if memory is exhausted. Never continue with an id of zeros: it would not be unique.
  if (EVP_Digest(text.data(), text.size(), digest.data(), nullptr, EVP_sha1(), nullptr) != 1) throw std::bad_alloc();
  Uuid out;
  std::copy_n(digest.begin(), out.bytes.size(), out.bytes.begin());
  out.bytes[6] = static_cast<std::uint8_t>((out.bytes[6] & 0x0F) | 0x50);  // version 5
  out.bytes[8] = static_cast<std::uint8_t>((out.bytes[8] & 0x3F) | 0x80);  // RFC 9562's variant
  return out;
}

}  // namespace footnote
