#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace footnote::bm25 {

/// What a stretch of text is, and so how it becomes terms.
enum class StretchKind {
  kWord,      ///< Letters, digits and marks of scripts that put spaces between words; may hold apostrophes.
  kBigrams,   ///< Han, kana, hangul: terms are pairs of neighbours.
  kUnspaced,  ///< Thai, Lao, Khmer, Burmese: a dictionary finds the words.
};

/// Views into the scanned text.
struct Stretch {
  StretchKind kind = StretchKind::kWord;
  std::string_view text;
};

/// One word as a writer would count it: "src/base/file.h", "max_batch_size", "don't", "naïve". Its pieces are what
/// `.` `_` `/` `\` `::` `->` join; a plain word has one piece.
struct ScannedWord {
  std::string_view whole;
  std::vector<Stretch> pieces;
  bool ascii = true;
};

/// Finds the words of a UTF-8 text, one after the other. Malformed bytes separate words. Hyphens do too.
///   WordScanner scanner(text);
///   while (scanner.next(word)) ...
class WordScanner {
 public:
  explicit WordScanner(std::string_view text) : text_(text) {}

  /// False at the end. Reuses the memory of `word`; its views live as long as the text.
  bool next(ScannedWord& word);

 private:
  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace footnote::bm25
