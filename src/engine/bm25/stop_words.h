#pragma once

#include <string_view>

namespace footnote::bm25 {

/// What an English word does in a sentence, as far as search cares.
enum class WordRole {
  kContent,
  kFunction,  ///< Pronouns, auxiliaries, question words: indexed, but they say nothing of what a question is about.
  kStop,      ///< Lucene's 33 English stop words: too common to index.
};

/// REQUIRES: lower case, contractions without their apostrophe: "dont".
WordRole role_of(std::string_view word);

}  // namespace footnote::bm25
