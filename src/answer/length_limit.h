#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "answer/sentence_cutter.h"

namespace footnote::answer {

/// Keeps a streamed answer to so many characters (code points) and lets it end where a sentence does. Text flows until the last
/// kHeldCharacters before the bound; from there on whole sentences go on, as long as they fit. A sentence that is under way and does not
/// fit is cut between words and ends in "…". Not thread-safe.
class LengthLimit {
 public:
  /// Longer than nearly every sentence. Of a bound below twice this much, one half is held.
  static constexpr std::size_t kHeldCharacters = 400;

  explicit LengthLimit(std::size_t characters_max);

  /// What of the text so far may be shown now, beyond what was given before.
  std::string take(std::string_view piece);
  /// The rest; the text is complete.
  std::string finish();
  /// The bound was reached: nothing more will be shown.
  bool full() const { return full_; }

 private:
  std::string show_until(std::size_t end);
  std::string close();

  const std::size_t characters_max_;
  const std::size_t free_characters_;  ///< So many flow as they come.
  SentenceCutter cutter_;
  std::string text_;
  std::size_t shown_ = 0;  // bytes of text_
  std::size_t shown_characters_ = 0;
  std::size_t counted_ = 0;            // bytes of text_ whose characters are counted
  std::size_t characters_ = 0;         // of counted_
  std::size_t free_end_ = 0;           // bytes of text_ that flow
  std::size_t last_sentence_end_ = 0;  // bytes of text_
  bool full_ = false;
};

}  // namespace footnote::answer
