#include "base/unicode.h"

#include <unicode/bytestream.h>
#include <unicode/normalizer2.h>

#include <algorithm>

#include "base/utf8.h"

namespace footnote {

std::string to_nfkc(std::string_view text) {
  const bool plain = std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  if (plain) return std::string(text);
  const std::string whole = repair_utf8(text);
  UErrorCode status = U_ZERO_ERROR;
  const icu::Normalizer2* normalizer = icu::Normalizer2::getNFKCInstance(status);
  std::string out;
  icu::StringByteSink<std::string> sink(&out);
  if (U_SUCCESS(status)) normalizer->normalizeUTF8(0, {whole.data(), static_cast<int32_t>(whole.size())}, sink, nullptr, status);
  return U_SUCCESS(status) ? out : whole;
}

}  // namespace footnote
