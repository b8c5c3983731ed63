#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <unordered_set>

namespace footnote::answer {

/// Notices that a streamed text repeats itself, as small models do until their token limit. Three rules: the same words in a row again and
/// again ("The answer is: The answer is: ..."); a stretch of which nearly every four words were said before (whole paragraphs, in any
/// order); very long runs without a word, or a word without an end. Compares words only, ignoring case, punctuation and the numbers of
/// lists. Code and table rows may repeat more: zeros in a row are data. Linear in the text, bounded memory. Not thread-safe.
class LoopGuard {
 public:
  /// Longest phrase that the first rule follows.
  static constexpr std::size_t kPhraseWordsMax = 40;
  /// Stretch of the second rule, and how many of its four-word groups were said before.
  static constexpr std::size_t kStretchWords = 48;
  static constexpr std::size_t kStretchRepeatedMin = 44;
  /// Four-word groups that are remembered; a longer text is compared with its beginning.
  static constexpr std::size_t kGroupsMax = 20'000;
  static constexpr std::size_t kWordlessBytesMax = 600;
  static constexpr std::size_t kWordBytesMax = 2'000;
  /// Code and tables must repeat this many times as often.
  static constexpr std::size_t kDataFactor = 4;

  /// How often a phrase of this many words may follow itself: a loop is one more.
  static constexpr std::size_t times_max(std::size_t phrase_words) {
    return phrase_words == 1 ? 11 : phrase_words == 2 ? 7 : phrase_words < 8 ? 3 : 2;
  }

  /// Adds a piece, cut anywhere. True from the piece on that completes a loop.
  bool take(std::string_view piece);
  bool loops() const { return loops_; }

 private:
  void take_byte(unsigned char byte);
  void add_to_word(unsigned char byte);
  void end_word();
  void follow_line(unsigned char byte);
  void count_phrases(std::uint64_t word);
  void count_groups(std::uint64_t word);
  bool is_data() const { return in_fence_ || in_row_; }

  // The word that is being read, as a hash.
  std::uint64_t word_ = 0;
  std::size_t word_bytes_ = 0;
  bool word_is_number_ = true;
  std::size_t wordless_bytes_ = 0;
  std::size_t continuation_ = 0;  ///< Bytes of a character that are still to come ...
  bool in_letter_ = false;        ///< ... and whether it is part of a word,
  bool in_sign_ = false;          ///< ... or a word by itself, as in Chinese.

  // The line.
  bool at_line_start_ = true;
  bool opens_line_ = true;  ///< The word is the line's first.
  std::size_t ticks_ = 0;
  bool in_fence_ = false;
  bool in_row_ = false;

  // The last words, and for each distance how many words in a row equal the word at that distance before them.
  std::array<std::uint64_t, kPhraseWordsMax> last_{};
  std::array<std::size_t, kPhraseWordsMax + 1> same_{};
  std::size_t words_ = 0;

  std::unordered_set<std::uint64_t> groups_;
  std::bitset<kStretchWords> repeated_;
  std::size_t group_words_ = 0;  ///< Words that took part in the second rule.
  std::uint64_t before_[3] = {};

  bool loops_ = false;
};

}  // namespace footnote::answer
