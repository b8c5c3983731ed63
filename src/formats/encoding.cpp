#include "formats/encoding.h"

#include <unicode/ucnv.h>
#include <unicode/ucsdet.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "base/text.h"
#include "base/utf8.h"

namespace footnote::formats {

namespace {

using namespace std::string_view_literals;

/// A detection with lower confidence is a guess; ICU's scale is 0 to 100.
constexpr int kConfidenceMin = 30;
/// A few non-ASCII bytes fit many encodings: below this number, windows-1252 is assumed.
constexpr std::size_t kForeignBytesMin = 12;
/// A text counts as UTF-8 if at most one in this many sequences is malformed.
constexpr std::size_t kUtf8SequencesPerError = 4;

struct CloseConverter {
  void operator()(UConverter* converter) const { ucnv_close(converter); }
};
struct CloseDetector {
  void operator()(UCharsetDetector* detector) const { ucsdet_close(detector); }
};

struct Mark {
  std::string_view bytes;
  const char* encoding;
};
constexpr auto kMarks = std::to_array<Mark>(
    {{"\xFF\xFE\0\0"sv, "UTF-32LE"}, {"\0\0\xFE\xFF"sv, "UTF-32BE"}, {"\xFF\xFE"sv, "UTF-16LE"}, {"\xFE\xFF"sv, "UTF-16BE"}});

/// Converts to UTF-8 in pieces, so that no UTF-16 copy of the whole is made. nullopt: ICU does not know the name.
std::optional<Decoded> convert(std::string_view bytes, const char* encoding) {
  UErrorCode status = U_ZERO_ERROR;
  const std::unique_ptr<UConverter, CloseConverter> from(ucnv_open(encoding, &status));
  if (U_FAILURE(status)) return std::nullopt;
  Decoded out{{}, encoding, false};
  out.text.reserve(bytes.size() + bytes.size() / 8);
  std::array<UChar, 2048> piece{};
  const char* at = bytes.data();
  const char* const end = at + bytes.size();
  UChar lead = 0;
  do {
    UChar* to = piece.data();
    status = U_ZERO_ERROR;
    ucnv_toUnicode(from.get(), &to, piece.data() + piece.size(), &at, end, nullptr, 1, &status);
    if (U_FAILURE(status) && status != U_BUFFER_OVERFLOW_ERROR) break;
    for (const UChar* c = piece.data(); c != to; ++c) {
      if (U16_IS_LEAD(*c)) {
        lead = *c;
        continue;
      }
      const char32_t code_point = U16_IS_TRAIL(*c) && lead != 0 ? static_cast<char32_t>(U16_GET_SUPPLEMENTARY(lead, *c)) : *c;
      lead = 0;
      const bool bad = U16_IS_TRAIL(*c) && code_point == *c;
      out.repaired = out.repaired || bad || code_point == kReplacementCharacter;
      append_utf8(out.text, bad ? kReplacementCharacter : code_point);
    }
  } while (status == U_BUFFER_OVERFLOW_ERROR);
  return out;
}

/// UTF-16 without a mark: Western text has a NUL in nearly every pair, always on the same side.
const char* utf16_by_nul(std::string_view head) {
  std::array<std::size_t, 2> zeros{};
  for (std::size_t i = 0; i < head.size(); ++i) zeros[i % 2] += head[i] == '\0';
  const std::size_t pairs = head.size() / 2;
  if (pairs < 2 || head.size() % 2 != 0) return nullptr;
  if (zeros[1] * 10 > pairs * 7 && zeros[0] * 50 < pairs) return "UTF-16LE";
  if (zeros[0] * 10 > pairs * 7 && zeros[1] * 50 < pairs) return "UTF-16BE";
  return nullptr;
}

const char* encoding_by_marks(std::string_view bytes) {
  for (const Mark& mark : kMarks) {
    if (bytes.starts_with(mark.bytes)) return mark.encoding;
  }
  const std::string_view head = bytes.substr(0, kSniffBytes);
  return head.find('\0') == std::string_view::npos ? nullptr : utf16_by_nul(head.substr(0, head.size() & ~std::size_t{1}));
}

/// Whether most non-ASCII bytes are well-formed UTF-8.
bool is_nearly_utf8(std::string_view bytes) {
  std::size_t good = 0;
  std::size_t bad = 0;
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t begin = at;
    const char32_t c = next_code_point(bytes, at);
    if (at - begin > 1) ++good;
    if (c == kReplacementCharacter && at - begin == 1) ++bad;
  }
  return good > kUtf8SequencesPerError * bad;
}

std::size_t count_foreign(std::string_view bytes) {
  return static_cast<std::size_t>(std::ranges::count_if(bytes, [](char c) { return static_cast<unsigned char>(c) >= 0x80; }));
}

/// ISO 8859-1 is read as windows-1252, like in browsers: where they differ, only windows-1252 has printable characters.
std::string known_as(std::string_view name) {
  const std::string lower = to_lower_ascii(name);
  if (lower == "iso-8859-1" || lower == "latin1" || lower == "us-ascii" || lower == "ascii") return "windows-1252";
  return std::string(name);
}

std::string detected_encoding(std::string_view bytes) {
  constexpr std::string_view kFallback = "windows-1252";
  const std::string_view head = bytes.substr(0, kSniffBytes);
  UErrorCode status = U_ZERO_ERROR;
  const std::unique_ptr<UCharsetDetector, CloseDetector> detector(ucsdet_open(&status));
  if (U_FAILURE(status)) return std::string(kFallback);
  ucsdet_setText(detector.get(), head.data(), static_cast<int32_t>(head.size()), &status);
  const UCharsetMatch* match = U_SUCCESS(status) ? ucsdet_detect(detector.get(), &status) : nullptr;
  if (match == nullptr || U_FAILURE(status)) return std::string(kFallback);
  const int confidence = ucsdet_getConfidence(match, &status);
  const char* name = ucsdet_getName(match, &status);
  if (U_FAILURE(status) || confidence < kConfidenceMin) return std::string(kFallback);
  if (count_foreign(head) < kForeignBytesMin) return std::string(kFallback);
  return known_as(name);
}

}  // namespace

std::string Decoded::remark() const {
  if (encoding == "UTF-8") return repaired ? "not valid UTF-8; malformed bytes were replaced" : "";
  return fmt::format("read as {}{}", encoding, repaired ? "; malformed bytes were replaced" : "");
}

bool is_text(std::string_view bytes) {
  return bytes.substr(0, kSniffBytes).find('\0') == std::string_view::npos || encoding_by_marks(bytes) != nullptr;
}

Decoded decode(std::string_view bytes, std::string_view declared) {
  if (bytes.starts_with("\xEF\xBB\xBF")) bytes.remove_prefix(3);
  if (const char* marked = encoding_by_marks(bytes)) {
    if (auto decoded = convert(bytes, marked)) {
      if (decoded->text.starts_with("\xEF\xBB\xBF")) decoded->text.erase(0, 3);
      return *std::move(decoded);
    }
  }
  if (is_valid_utf8(bytes)) return {std::string(bytes), "UTF-8", false};
  if (!declared.empty() && to_lower_ascii(declared) != "utf-8") {
    if (auto decoded = convert(bytes, known_as(declared).c_str())) return *std::move(decoded);
  }
  if (is_nearly_utf8(bytes)) return {repair_utf8(bytes), "UTF-8", true};
  for (const std::string& name : {detected_encoding(bytes), std::string("windows-1252")}) {
    auto decoded = convert(bytes, name.c_str());
    if (decoded && (!decoded->repaired || name == "windows-1252")) return *std::move(decoded);
  }
  return {repair_utf8(bytes), "UTF-8", true};
}

std::string declared_charset(std::string_view html) {
  const std::string head = to_lower_ascii(html.substr(0, 2048));
  const std::size_t at = head.find("charset=");
  if (at == std::string::npos) return {};
  const std::string_view rest = trim(std::string_view(head).substr(at + 8));
  const std::size_t begin = rest.starts_with('"') || rest.starts_with('\'') ? 1 : 0;
  const std::string_view name = rest.substr(begin, rest.find_first_of(" \"'>;/\t\n", begin) - begin);
  // ICU ignores characters other than letters and digits, so `name` may contain characters that must not be shown.
  const bool is_name = std::ranges::all_of(name, [](char c) { return is_ascii_alphanumeric(c) || std::string_view("-_.:").contains(c); });
  return is_name ? std::string(name) : std::string();
}

}  // namespace footnote::formats
