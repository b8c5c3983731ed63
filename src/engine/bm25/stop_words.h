#pragma once

#include <string_view>

namespace footnote::bm25 {

/// The role of an English word, as far as search is concerned.
enum class WordRole {
  kContent,
  kFunction,  ///< Pronouns, auxiliaries, question words: indexed, but without meaning for a question's topic.
  kStop,      ///< Lucene's 33 English stop words: too common to index.
};

/// REQUIRES: lower case, contractions without apostrophe: "dont".
WordRole role_of(std::string_view word);

}  // namespace footnote::bm25
