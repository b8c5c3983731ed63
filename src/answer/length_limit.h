#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "answer/sentence_cutter.h"

namespace footnote::answer {

/// Limits a streamed answer to a number of characters (code points) and prefers to end it after a sentence. Text passes through until
/// kHeldCharacters before the bound; from there on only whole sentences that fit are passed. A sentence already begun that does not fit is
/// cut between words and ends in "…". Not thread-safe.
class LengthLimit {
 public:
  /// Longer than nearly every sentence. If the bound is below twice this value, half the bound is held back instead.
  static constexpr std::size_t kHeldCharacters = 400;

  explicit LengthLimit(std::size_t characters_max);

  /// Adds a piece and returns the text that may be shown now and was not returned before.
  std::string take(std::string_view piece);
  /// Returns the rest; call when the text is complete.
  std::string finish();
  /// True if the bound was reached: nothing more will be shown.
  bool full() const { return full_; }

 private:
  std::string show_until(std::size_t end);
  std::string close();

  const std::size_t characters_max_;
  const std::size_t free_characters_;  ///< This many pass through unbuffered.
  SentenceCutter cutter_;
  std::string text_;
  std::size_t shown_ = 0;  // bytes of text_
  std::size_t shown_characters_ = 0;
  std::size_t counted_ = 0;            // bytes of text_ whose characters are counted
  std::size_t characters_ = 0;         // number of characters in counted_
  std::size_t free_end_ = 0;           // bytes of text_ that pass through unbuffered
  std::size_t last_sentence_end_ = 0;  // bytes of text_
  bool full_ = false;
};

}  // namespace footnote::answer
