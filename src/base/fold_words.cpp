#include "base/fold_words.h"

#include <unicode/normalizer2.h>
#include <unicode/uchar.h>
#include <unicode/unistr.h>
#include <unicode/uscript.h>

#include <algorithm>

#include "base/utf8.h"

namespace footnote {

namespace {

bool is_ascii(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

/// Collects words, separated by single spaces.
class WordWriter {
 public:
  explicit WordWriter(std::size_t bytes) { out_.reserve(bytes); }

  void end_word() { in_word_ = false; }
  void add(char32_t c) {
    if (!in_word_ && !out_.empty()) out_ += ' ';
    in_word_ = true;
    append_utf8(out_, c);
  }
  std::string take() { return std::move(out_); }

 private:
  std::string out_;
  bool in_word_ = false;
};

std::string fold_ascii(std::string_view text) {
  WordWriter out(text.size());
  for (const char c : text) {
    if (c >= 'A' && c <= 'Z') {
      out.add(static_cast<char32_t>(c - 'A' + 'a'));
    } else if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) {
      out.add(static_cast<char32_t>(c));
    } else {
      out.end_word();
    }
  }
  return out.take();
}

/// Combining accents, which alphabets can drop. Vowel signs of other scripts stay: without them words change their meaning.
bool is_accent(char32_t c) { return c >= 0x0300 && c <= 0x036F; }

/// Characters inside words that are neither letters nor digits: vowel signs, joiners.
bool is_word_mark(char32_t c) { return (U_GET_GC_MASK(static_cast<UChar32>(c)) & U_GC_M_MASK) != 0; }

bool writes_no_spaces(char32_t c) {
  static constexpr UScriptCode kScripts[] = {USCRIPT_HAN, USCRIPT_HIRAGANA, USCRIPT_KATAKANA, USCRIPT_THAI,
                                             USCRIPT_LAO, USCRIPT_KHMER,    USCRIPT_MYANMAR};
  UErrorCode status = U_ZERO_ERROR;
  return std::ranges::find(kScripts, uscript_getScript(static_cast<UChar32>(c), &status)) != std::end(kScripts);
}

/// Folds case and compatibility forms, and decomposes accented letters.
icu::UnicodeString unfolded_accents(std::string_view text) {
  UErrorCode status = U_ZERO_ERROR;
  const auto source = icu::UnicodeString::fromUTF8(icu::StringPiece(text.data(), static_cast<int32_t>(text.size())));
  const icu::Normalizer2* fold = icu::Normalizer2::getNFKCCasefoldInstance(status);
  const icu::Normalizer2* decompose = icu::Normalizer2::getNFDInstance(status);
  if (U_FAILURE(status)) return source;
  const icu::UnicodeString folded = fold->normalize(source, status);
  icu::UnicodeString out = decompose->normalize(folded, status);
  return U_FAILURE(status) ? source : out;
}

}  // namespace

std::string fold_words(std::string_view text) {
  if (is_ascii(text)) return fold_ascii(text);
  const icu::UnicodeString decomposed = unfolded_accents(text);
  WordWriter out(text.size());
  for (int32_t at = 0; at < decomposed.length(); at = decomposed.moveIndex32(at, 1)) {
    const auto c = static_cast<char32_t>(decomposed.char32At(at));
    if (is_accent(c)) continue;
    if (writes_no_spaces(c)) {
      if (!is_word_mark(c)) out.end_word();
      out.add(c);
    } else if (u_isalnum(static_cast<UChar32>(c)) || is_word_mark(c)) {
      out.add(c);
    } else {
      out.end_word();
    }
  }
  return out.take();
}

}  // namespace footnote
