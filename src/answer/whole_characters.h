#pragma once

#include <string>
#include <string_view>

namespace footnote::answer {

/// Makes valid UTF-8 of a streamed text: a character that is cut by the end of a piece waits for the next one; bytes that are no character
/// become U+FFFD. Holds back at most 3 bytes. Not thread-safe.
class WholeCharacters {
 public:
  std::string take(std::string_view piece);
  /// Returns the rest; call when the text is complete.
  std::string finish();

 private:
  std::string held_;
};

}  // namespace footnote::answer
