#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace footnote::answer {

/// Stops a streamed answer from reciting the rules in its model's prompt. Compares words only, ignoring case and punctuation. After
/// kHeldFrom consecutive words that match a rule, text is held back until the match ends. After kWordsMax matching words the answer is
/// ended and the held text is dropped. Not thread-safe.
class EchoGuard {
 public:
  static constexpr std::size_t kWordsMax = 8;
  /// Many rules contain the same two common words in a row ("of the"); holding those back would make every answer stutter.
  static constexpr std::size_t kHeldFrom = 3;

  explicit EchoGuard(std::span<const std::string_view> rules);

  /// Adds a piece and returns the text that may be shown now and was not returned before.
  std::string take(std::string_view piece);
  /// Returns the rest; call when the text is complete.
  std::string finish();
  /// True if a rule was recited: nothing more will be shown.
  bool recited() const { return recited_; }

 private:
  /// Consecutive words that match the rules, up to word `next` of the rules and from byte `begin` of the answer.
  struct Run {
    std::size_t next = 0;
    std::size_t words = 0;
    std::size_t begin = 0;
  };

  void end_word();
  std::size_t held_from() const;
  std::string show_until(std::size_t end);

  std::vector<std::string> rules_;  // words, with an empty one between two rules
  std::vector<Run> runs_;
  std::string word_;            // the incomplete last word, folded
  std::size_t word_begin_ = 0;  // byte offset in the answer
  std::size_t seen_ = 0;
  std::size_t shown_ = 0;
  std::string held_;  // text after shown_
  bool recited_ = false;
};

}  // namespace footnote::answer
