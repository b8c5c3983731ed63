#include "engine/nn/char_table.h"

#include <unicode/uchar.h>
#include <unicode/unorm2.h>
#include <unicode/utf16.h>

#include <algorithm>

namespace footnote::nn {
namespace {

// The reference library's category tables are from Unicode 8: newer characters are unassigned.
constexpr int kCategoryUnicodeMajor = 8;
// Its decomposition and mark order are from Unicode 12.
constexpr int kDecompositionUnicodeMajor = 12;

int category(char32_t code_point) {
  // Characters whose category changed between Unicode 8 and ICU's version.
  switch (code_point) {
    case 0x1734: return U_NON_SPACING_MARK;
    case 0x1885:
    case 0x1886: return U_OTHER_LETTER;
    case 0xA9BD: return U_COMBINING_SPACING_MARK;
    case 0x166D:
    case 0x111C9: return U_OTHER_PUNCTUATION;
    default: break;
  }
  UVersionInfo age;
  u_charAge(static_cast<UChar32>(code_point), age);
  return age[0] > kCategoryUnicodeMajor ? static_cast<int>(U_UNASSIGNED) : u_charType(static_cast<UChar32>(code_point));
}

bool is_control(char32_t code_point) {
  if (code_point == '\t' || code_point == '\n' || code_point == '\r') return false;
  const int type = category(code_point);
  return type == U_CONTROL_CHAR || type == U_FORMAT_CHAR || type == U_PRIVATE_USE_CHAR || type == U_SURROGATE;
}

bool is_ideograph(char32_t c) {
  return (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0x3400 && c <= 0x4DBF) || (c >= 0x20000 && c <= 0x2A6DF) || (c >= 0x2A700 && c <= 0x2B81F) ||
         (c >= 0x2B920 && c <= 0x2CEAF) || (c >= 0xF900 && c <= 0xFAFF) || (c >= 0x2F800 && c <= 0x2FA1F);
}

bool is_punctuation(char32_t c) {
  // All ASCII symbols count, including those that Unicode classifies as mathematical.
  if (c < 0x80) return (c >= 33 && c <= 47) || (c >= 58 && c <= 64) || (c >= 91 && c <= 96) || (c >= 123 && c <= 126);
  switch (category(c)) {
    case U_DASH_PUNCTUATION:
    case U_START_PUNCTUATION:
    case U_END_PUNCTUATION:
    case U_CONNECTOR_PUNCTUATION:
    case U_OTHER_PUNCTUATION:
    case U_INITIAL_PUNCTUATION:
    case U_FINAL_PUNCTUATION: return true;
    default: return false;
  }
}

// Case pairs of Unicode 16 and 17, which ICU 72 lacks.
char32_t newer_lower_case(char32_t c) {
  if (c >= 0x10D50 && c <= 0x10D65) return c + 0x20;
  if (c >= 0x16EA0 && c <= 0x16EB8) return c + 0x1B;
  switch (c) {
    case 0x1C89:
    case 0xA7CC:
    case 0xA7CE:
    case 0xA7D2:
    case 0xA7D4:
    case 0xA7DA: return c + 1;
    case 0xA7CB: return 0x264;
    case 0xA7DC: return 0x19B;
    default: return c;
  }
}

std::size_t lower_case(char32_t c, char32_t* out) {
  if (c == 0x130) {  // The only character whose simple lower case is two characters.
    out[0] = 'i';
    out[1] = 0x307;
    return 2;
  }
  const auto lowered = static_cast<char32_t>(u_tolower(static_cast<UChar32>(c)));
  out[0] = lowered != c ? lowered : newer_lower_case(c);
  return 1;
}

std::size_t decompose(char32_t c, char32_t* out, std::size_t capacity) {
  UErrorCode status = U_ZERO_ERROR;
  const UNormalizer2* nfd = unorm2_getNFDInstance(&status);
  UChar units[16];
  const int length = U_FAILURE(status) || c == 0x11938  // Decomposes since Unicode 13, which is newer than the reference.
                         ? -1
                         : unorm2_getDecomposition(nfd, static_cast<UChar32>(c), units, 16, &status);
  if (length <= 0 || U_FAILURE(status)) {
    out[0] = c;
    return 1;
  }
  std::size_t count = 0;
  for (int i = 0; i < length && count < capacity;) {
    UChar32 piece = 0;
    U16_NEXT(units, i, length, piece);
    out[count++] = static_cast<char32_t>(piece);
  }
  return count;
}

std::uint32_t pack(CharKind kind, char32_t folded) { return (static_cast<std::uint32_t>(kind) << 24) | static_cast<std::uint32_t>(folded); }

}  // namespace

CharTable::CharTable(FoldOptions options) : options_(options), entries_(kTableSize) {
  for (char32_t c = 0; c < kTableSize; ++c) entries_[c] = compute(c);
}

std::size_t CharTable::expand(char32_t code_point, Expansion& out) const {
  std::array<char32_t, 8> pieces{code_point};
  const std::size_t count = options_.strip_accents ? decompose(code_point, pieces.data(), pieces.size()) : 1;
  std::size_t length = 0;
  for (std::size_t i = 0; i < count && length + 2 <= out.size(); ++i) {
    if (options_.strip_accents && category(pieces[i]) == U_NON_SPACING_MARK) continue;
    if (options_.lower_case) {
      length += lower_case(pieces[i], out.data() + length);
    } else {
      out[length++] = pieces[i];
    }
  }
  return length;
}

CharKind CharTable::kind_of_folded(char32_t code_point) {
  if (u_isUWhiteSpace(static_cast<UChar32>(code_point))) return CharKind::kSpace;
  return is_punctuation(code_point) ? CharKind::kPunctuation : CharKind::kWord;
}

std::uint8_t CharTable::order_of(char32_t folded) const {
  if (!options_.strip_accents) return 0;
  UVersionInfo age;
  u_charAge(static_cast<UChar32>(folded), age);
  return age[0] > kDecompositionUnicodeMajor ? 0 : u_getCombiningClass(static_cast<UChar32>(folded));
}

std::uint32_t CharTable::compute(char32_t code_point) const {
  if (code_point == 0 || code_point == 0xFFFD || is_control(code_point)) return pack(CharKind::kRemoved, 0);
  if (u_isUWhiteSpace(static_cast<UChar32>(code_point))) return pack(CharKind::kSpace, 0);
  if (options_.space_ideographs && is_ideograph(code_point)) return pack(CharKind::kIdeograph, 0);
  Expansion folded;
  const std::size_t count = expand(code_point, folded);
  if (count == 0) return pack(CharKind::kStripped, 0);
  if (count > 1 || order_of(folded[0]) != 0) return pack(CharKind::kMany, 0);
  return pack(kind_of_folded(folded[0]), folded[0]);
}

}  // namespace footnote::nn
