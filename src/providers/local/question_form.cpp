#include "providers/local/question_form.h"

#include <algorithm>
#include <string>

#include "base/text.h"

namespace footnote {

namespace {

// "from" and "until", but not "someone".
constexpr std::size_t kPrepositionBytesMax = 6;

}  // namespace

bool asks_for_words(std::string_view question) {
  static constexpr std::string_view kOpenings[] = {
      "who",       "whom",      "whose",    "when",      "where",       "which",        "how many",    "how much", "how long",
      "how old",   "how often", "how far",  "how big",   "how large",   "how high",     "how fast",    "how late", "how early",
      "what year", "what time", "what day", "what date", "what is the", "what was the", "what are the"};
  const std::string folded = to_lower_ascii(fold_spaces(question));
  return std::ranges::any_of(kOpenings, [&](std::string_view opening) {
    const std::size_t at = folded.find(opening);
    // At the beginning, or after a preposition: "In which year ...", "By when ...".
    const bool opens =
        at == 0 || (at != std::string::npos && at <= kPrepositionBytesMax && folded[at - 1] == ' ' && folded.find(' ') == at - 1);
    return opens && (at + opening.size() == folded.size() || folded[at + opening.size()] == ' ');
  });
}

}  // namespace footnote
