#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/bm25/bm25_index.h"

namespace footnote {

/// A query analyzed by the rules of each language of the corpus: a question does not say which language it is in.
struct QueryTerms {
  /// Distinct, weighted by how often the query contains them.
  std::vector<bm25::QueryTerm> terms;
  /// The query's distinct content words, each with its forms in those languages.
  std::vector<bm25::Alternatives> words;
  /// Phrases in double quotes, each in those languages.
  std::vector<bm25::Phrase> phrases;
  /// The forms of the query's last word if it may be incomplete; else empty.
  bm25::Alternatives last_word;
};

inline constexpr std::size_t kQueryBytesMax = 8 << 10;
inline constexpr std::size_t kQueryTermsMax = 256;
inline constexpr std::size_t kPhrasesMax = 8;
/// Phrase searches are short. In a query with more content words than this, quotes are treated as prose, not as phrases (nDCG@10 on cisi,
/// which has five abstracts with quotes as questions: .350 as phrases, .368 as prose).
inline constexpr std::size_t kPhraseQueryWordsMax = 24;

/// Limits on the extra terms per word, and their weights relative to it.
inline constexpr std::size_t kPrefixTermsMax = 32;
inline constexpr std::size_t kTypoTermsMax = 8;
inline constexpr float kPrefixWeight = 0.7F;
inline constexpr float kTypoWeight = 0.5F;
inline constexpr std::size_t kPrefixBytesMin = 2;
inline constexpr std::size_t kTypoLettersMin = 4;
inline constexpr std::size_t kTwoTypoLettersMin = 8;

/// Analyzes the first kQueryBytesMax bytes and keeps the first kQueryTermsMax terms and kPhrasesMax phrases. `languages` are ISO 639-1
/// codes; empty: English. Deterministic: the result depends only on the arguments.
QueryTerms query_terms(std::string_view text, std::span<const std::string> languages);

/// Adds the terms of `index` that start with the last word. They share its rarity.
void expand_last_word(const bm25::Bm25Index& index, QueryTerms& terms);

/// For each term that no row of that generation contains, adds the terms of `index` that it may be a misspelling of.
void expand_misspelled(const bm25::Bm25Index& index, std::int64_t generation, QueryTerms& terms);

/// Adds synonyms of `original`, a term of the query: each has `weight` times its weight, all share one rarity, and a row with any of them
/// contains the word.
void add_synonyms(QueryTerms& terms, const std::string& original, const std::vector<std::string>& synonyms, float weight);

}  // namespace footnote
