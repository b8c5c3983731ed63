#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace footnote::answer {

/// Keeps a streamed answer from reciting the rules that its model was given. Compared by words, whatever stands between them and in
/// whatever case. Text flows as it comes; behind kHeldFrom words in a row that stand so in a rule it is held back, and shown when the next
/// words are others. After kWordsMax such words the answer is over, and what was held is not shown. Not thread-safe.
class EchoGuard {
 public:
  static constexpr std::size_t kWordsMax = 8;
  /// Two common words in a row ("of the") stand in many a rule: to hold them back would make every answer stutter.
  static constexpr std::size_t kHeldFrom = 3;

  explicit EchoGuard(std::span<const std::string_view> rules);

  /// What of the text so far may be shown now, beyond what was given before.
  std::string take(std::string_view piece);
  /// The rest; the text is complete.
  std::string finish();
  /// A rule was recited: nothing more will be shown.
  bool recited() const { return recited_; }

 private:
  /// Words in a row that stand so in the rules: up to word `next` of them, from byte `begin` of the answer on.
  struct Run {
    std::size_t next = 0;
    std::size_t words = 0;
    std::size_t begin = 0;
  };

  void end_word();
  std::size_t held_from() const;
  std::string show_until(std::size_t end);

  std::vector<std::string> rules_;  // words; an empty one between two rules
  std::vector<Run> runs_;
  std::string word_;            // under way, folded
  std::size_t word_begin_ = 0;  // of the answer's bytes
  std::size_t seen_ = 0;
  std::size_t shown_ = 0;
  std::string held_;  // what follows shown_
  bool recited_ = false;
};

}  // namespace footnote::answer
