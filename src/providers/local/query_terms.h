#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/bm25/bm25_index.h"

namespace footnote {

/// A query cut into terms by the rules of each language that the corpus has: a question does not say which it is in.
struct QueryTerms {
  /// Distinct, each with how often the query says it.
  std::vector<bm25::QueryTerm> terms;
  /// The query's distinct content words, each with its forms in those languages.
  std::vector<bm25::Alternatives> words;
  /// What the query says in double quotes, each in those languages.
  std::vector<bm25::Phrase> phrases;
  /// The forms of the query's last word, when nothing but it could still be typed on; else empty.
  bm25::Alternatives last_word;
};

inline constexpr std::size_t kQueryBytesMax = 8 << 10;
inline constexpr std::size_t kQueryTermsMax = 256;
inline constexpr std::size_t kPhrasesMax = 8;
/// Whoever wants a phrase types a few words. In a query of more content words than this, quotes are those of prose and demand nothing
/// (nDCG@10 on cisi, five of whose questions are abstracts with quotes: .350 when they do, .368 when they do not).
inline constexpr std::size_t kPhraseQueryWordsMax = 24;

/// Terms that one word may become beyond itself, and how much each weighs beside it.
inline constexpr std::size_t kPrefixTermsMax = 32;
inline constexpr std::size_t kTypoTermsMax = 8;
inline constexpr float kPrefixWeight = 0.7F;
inline constexpr float kTypoWeight = 0.5F;
inline constexpr std::size_t kPrefixBytesMin = 2;
inline constexpr std::size_t kTypoLettersMin = 4;
inline constexpr std::size_t kTwoTypoLettersMin = 8;

/// Reads the first kQueryBytesMax bytes and keeps the first kQueryTermsMax terms and kPhrasesMax phrases. `languages` are ISO 639-1 codes;
/// none reads as English. Deterministic: order and content depend on the arguments alone.
QueryTerms query_terms(std::string_view text, std::span<const std::string> languages);

/// Adds the terms of `index` that the last word may be the beginning of. They share its rarity.
void expand_last_word(const bm25::Bm25Index& index, QueryTerms& terms);

/// Adds to each term that no row of that generation holds the terms of `index` that it may be a misspelling of.
void expand_misspelled(const bm25::Bm25Index& index, std::int64_t generation, QueryTerms& terms);

/// Adds terms that may stand for `original`, a term of the query: each weighs `weight` of it, all share one rarity, and a row with one of
/// them holds the word.
void add_synonyms(QueryTerms& terms, const std::string& original, const std::vector<std::string>& synonyms, float weight);

}  // namespace footnote
