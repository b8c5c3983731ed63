#include "engine/bm25/word_scanner.h"

#include <unicode/uchar.h>

#include <array>
#include <cstdint>

#include "base/utf8.h"

namespace footnote::bm25 {
namespace {

enum class CharClass : std::uint8_t { kSeparator, kWord, kBigrams, kUnspaced, kApostrophe, kJoiner };

constexpr std::array<CharClass, 128> make_ascii_classes() {
  std::array<CharClass, 128> out{};
  for (int c = '0'; c <= '9'; ++c) out[static_cast<std::size_t>(c)] = CharClass::kWord;
  for (int c = 'a'; c <= 'z'; ++c) out[static_cast<std::size_t>(c)] = CharClass::kWord;
  for (int c = 'A'; c <= 'Z'; ++c) out[static_cast<std::size_t>(c)] = CharClass::kWord;
  for (const char c : {'.', '_', '/', '\\', ':', '-'}) out[static_cast<std::size_t>(c)] = CharClass::kJoiner;
  out['\''] = CharClass::kApostrophe;
  return out;
}
constexpr auto kAsciiClasses = make_ascii_classes();

bool is_bigram_script(char32_t c) {
  return (c >= 0x3041 && c <= 0x30FF) || (c >= 0x3400 && c <= 0x9FFF) || (c >= 0xAC00 && c <= 0xD7A3) || (c >= 0x3005 && c <= 0x3007) ||
         (c >= 0x31F0 && c <= 0x31FF) || (c >= 0xF900 && c <= 0xFAFF) || (c >= 0xFF66 && c <= 0xFF9F) || (c >= 0x20000 && c <= 0x3FFFF);
}

bool is_unspaced_script(char32_t c) { return (c >= 0x0E01 && c <= 0x0EFF) || (c >= 0x1000 && c <= 0x109F) || (c >= 0x1780 && c <= 0x17FF); }

CharClass classify(char32_t c) {
  if (c < 0x80) return kAsciiClasses[c];
  if (c == 0x2019 || c == 0x02BC) return CharClass::kApostrophe;
  if (c == 0x200B || c == 0x2060 || c == 0xFEFF) return CharClass::kSeparator;
  constexpr std::uint32_t kWordTypes =
      U_GC_L_MASK | U_GC_M_MASK | U_GC_N_MASK | U_GC_CF_MASK;  // Cf: soft hyphens and joiners inside words.
  if ((U_GET_GC_MASK(static_cast<UChar32>(c)) & kWordTypes) == 0) return CharClass::kSeparator;
  if (is_bigram_script(c)) return CharClass::kBigrams;
  if (is_unspaced_script(c)) return CharClass::kUnspaced;
  return CharClass::kWord;
}

/// Iterates over the character classes of a text.
class Cursor {
 public:
  Cursor(std::string_view text, std::size_t at) : text_(text), at_(at) {}

  bool done() const { return at_ >= text_.size(); }
  std::size_t at() const { return at_; }
  /// The class at the cursor; past() is then the offset of the next code point.
  CharClass peek() {
    const auto byte = static_cast<unsigned char>(text_[at_]);
    past_ = at_ + 1;
    if (byte < 0x80) return kAsciiClasses[byte];
    past_ = at_;
    return classify(next_code_point(text_, past_));
  }
  std::size_t past() const { return past_; }
  void advance() { at_ = past_; }
  void move_to(std::size_t at) { at_ = at; }

 private:
  std::string_view text_;
  std::size_t at_;
  std::size_t past_ = 0;
};

bool starts_piece(CharClass c) { return c == CharClass::kWord || c == CharClass::kBigrams || c == CharClass::kUnspaced; }

StretchKind kind_of(CharClass c) {
  if (c == CharClass::kBigrams) return StretchKind::kBigrams;
  if (c == CharClass::kUnspaced) return StretchKind::kUnspaced;
  return StretchKind::kWord;
}

/// The end of a run of one class; an apostrophe belongs to a word when letters stand on both sides.
std::size_t stretch_end(std::string_view text, std::size_t begin, CharClass kind) {
  Cursor cursor(text, begin);
  while (!cursor.done()) {
    const CharClass c = cursor.peek();
    if (c == kind) {
      cursor.advance();
      continue;
    }
    if (c != CharClass::kApostrophe || kind != CharClass::kWord) break;
    Cursor after(text, cursor.past());
    if (after.done() || after.peek() != CharClass::kWord) break;
    cursor.advance();
  }
  return cursor.at();
}

/// The number of bytes at `at` that join two pieces: `.`, `/`, `\`, a run of `_`, `::` or `->`. 0 when there is none.
std::size_t joiner_size(std::string_view text, std::size_t at) {
  switch (text[at]) {
    case '.':
    case '/':
    case '\\': return 1;
    case '_': {
      std::size_t end = at;
      while (end < text.size() && text[end] == '_') ++end;
      return end - at;
    }
    case ':': return text.substr(at, 2) == "::" ? 2 : 0;
    case '-': return text.substr(at, 2) == "->" ? 2 : 0;
    default: return 0;
  }
}

}  // namespace

bool WordScanner::next(ScannedWord& word) {
  word.pieces.clear();
  word.ascii = true;
  Cursor cursor(text_, at_);
  while (!cursor.done() && !starts_piece(cursor.peek())) cursor.advance();
  const std::size_t begin = cursor.at();
  while (!cursor.done()) {
    const CharClass kind = cursor.peek();
    const std::size_t end = stretch_end(text_, cursor.at(), kind);
    word.pieces.push_back({kind_of(kind), text_.substr(cursor.at(), end - cursor.at())});
    cursor.move_to(end);
    if (cursor.done()) break;
    // A change of script ends a word; a joiner continues it only if a piece follows.
    const std::size_t joiner = joiner_size(text_, end);
    if (joiner == 0 || kind != CharClass::kWord) break;
    Cursor after(text_, end + joiner);
    if (after.done() || after.peek() != CharClass::kWord) break;
    cursor.move_to(end + joiner);
  }
  at_ = cursor.at();
  word.whole = text_.substr(begin, at_ - begin);
  for (const char c : word.whole) word.ascii = word.ascii && static_cast<unsigned char>(c) < 0x80;
  return !word.pieces.empty();
}

}  // namespace footnote::bm25
