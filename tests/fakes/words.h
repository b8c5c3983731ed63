#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "domain/ids.h"

namespace footnote::fakes {

/// A word of a text: a run of ASCII letters, digits and non-ASCII bytes.
struct Word {
  std::string stem;       ///< Lower-cased, plural ending cut.
  TextRange range;        ///< Position in the text.
  bool function = false;  ///< "the", "who", "of": carries no topic.
};

std::vector<Word> words_of(std::string_view text);

/// The stems of a text without its function words, in text order, including repetitions.
std::vector<std::string> content_stems(std::string_view text);

/// The share of the distinct `wanted` stems that occur in `found`, 0..1; 0 if nothing is wanted.
double share_of(const std::vector<std::string>& wanted, const std::vector<std::string>& found);

/// Simple sentences: up to a full stop, question mark or exclamation mark before white space, or to a line end. Trimmed; lines that start
/// with '#' are headings, not sentences.
std::vector<TextRange> sentences_of(std::string_view text);

}  // namespace footnote::fakes
