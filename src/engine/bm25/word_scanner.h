#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace footnote::bm25 {

/// The kind of a run of characters; it decides how the run becomes terms.
enum class StretchKind {
  kWord,      ///< Letters, digits and marks of scripts that separate words by spaces; may contain apostrophes.
  kBigrams,   ///< Han, kana, hangul: indexed as bigrams.
  kUnspaced,  ///< Thai, Lao, Khmer, Burmese: segmented by a dictionary.
};

/// Views into the scanned text.
struct Stretch {
  StretchKind kind = StretchKind::kWord;
  std::string_view text;
};

/// One word as a person would count it: "src/base/file.h", "max_batch_size", "don't", "naïve". Its pieces are separated by `.` `_` `/` `\`
/// `::` `->`; a plain word has one piece.
struct ScannedWord {
  std::string_view whole;
  std::vector<Stretch> pieces;
  bool ascii = true;
};

/// Iterates over the words of a UTF-8 text. Malformed bytes and hyphens separate words.
///   WordScanner scanner(text);
///   while (scanner.next(word)) ...
class WordScanner {
 public:
  explicit WordScanner(std::string_view text) : text_(text) {}

  /// False at the end. Reuses the memory of `word`; its views are valid as long as the text.
  bool next(ScannedWord& word);

 private:
  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace footnote::bm25
