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
};

inline constexpr std::size_t kQueryBytesMax = 8 << 10;
inline constexpr std::size_t kQueryTermsMax = 256;

/// Reads the first kQueryBytesMax bytes and keeps the first kQueryTermsMax terms. `languages` are ISO 639-1 codes;
/// none reads as English. Deterministic: order and content depend on the arguments alone.
QueryTerms query_terms(std::string_view text, std::span<const std::string> languages);

}  // namespace footnote
