#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace footnote::bm25 {

/// Increment when the same text yields different terms: documents indexed with older rules are then indexed again.
inline constexpr std::uint32_t kAnalyzerRules = 2;

/// A term as indexed. The view is valid only inside the sink call.
struct Term {
  std::string_view text;
  /// Index of its word in the text; all parts of a word share it.
  std::size_t word = 0;
  /// Position in the text: each word part and stop word takes one, and a whole has the position of its first part.
  std::uint32_t position = 0;
  /// True for an identifier, path or number kept whole, in addition to the terms of its parts.
  bool whole = false;
  /// An English function word such as "what" or "does". Stop words are never emitted.
  bool function_word = false;
};

/// Turns text into terms: Unicode words in lower case, without English stop words, stemmed, accents folded. Identifiers and paths are split
/// (camelCase, snake_case, a/b.c) and also kept whole. Han, kana and hangul yield bigrams; Thai and similar scripts are segmented by ICU's
/// dictionary. Accepts any bytes. Deterministic. Not thread-safe, but cheap to construct: make one per call.
class Analyzer {
 public:
  /// Longer terms are truncated; longer wholes are dropped.
  static constexpr std::size_t kTermBytesMax = 64;

  /// `language` is an ISO 639-1 code; "" and codes without a stemmer mean English.
  explicit Analyzer(std::string_view language = "en");
  ~Analyzer();
  Analyzer(Analyzer&&) noexcept;
  Analyzer& operator=(Analyzer&&) noexcept;

  void analyze(std::string_view text, const std::function<void(const Term&)>& sink);

  /// All terms in text order.
  std::vector<std::string> terms(std::string_view text);

  /// The distinct terms that carry a text's meaning, in order of first appearance: no wholes, no function words.
  std::vector<std::string> content_terms(std::string_view text);

  /// The language whose rules apply: "en" for languages without a stemmer.
  static std::string_view effective_language(std::string_view language);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace footnote::bm25
