#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "domain/ids.h"

namespace footnote::fakes {

/// A word of a text: runs of ASCII letters and digits and of bytes past ASCII.
struct Word {
  std::string stem;       ///< Lower-cased, plural ending cut.
  TextRange range;        ///< Where it stands.
  bool function = false;  ///< "the", "who", "of": says nothing of the topic.
};

std::vector<Word> words_of(std::string_view text);

/// The stems of a text without its function words, in text order, repetitions kept.
std::vector<std::string> content_stems(std::string_view text);

/// The share of the different `wanted` stems that `found` holds, 0..1; 0 when nothing is wanted.
double share_of(const std::vector<std::string>& wanted, const std::vector<std::string>& found);

/// Sentences as the fakes see them: up to a full stop, question or exclamation mark before white space, or a line
/// end. Without white space at the ends; lines that start with '#' are headings, not sentences.
std::vector<TextRange> sentences_of(std::string_view text);

}  // namespace footnote::fakes
