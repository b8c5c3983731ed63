#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace footnote::bm25 {

/// Counted up whenever the same text gives other terms than before: what was indexed by older rules is indexed again.
inline constexpr std::uint32_t kAnalyzerRules = 2;

/// A term as it is indexed. The view lives until the sink that it was given to returns.
struct Term {
  std::string_view text;
  /// The place of its word among the words of the text; parts of one word share it.
  std::size_t word = 0;
  /// Its place in the text: parts of words and stop words take one each, a whole stands where its first part does.
  std::uint32_t position = 0;
  /// An identifier, path or number that was split, kept in one as well: its parts came as terms of their own.
  bool whole = false;
  /// English grammar rather than content: "what", "does". Stop words do not come at all.
  bool function_word = false;
};

/// Turns text into terms: words by Unicode, lower case, stop words dropped (English), stemmed, accents folded.
/// Identifiers and paths are split (camelCase, snake_case, a/b.c) and also kept whole. Han, kana and hangul give pairs
/// of neighbours, Thai and its like the words of ICU's dictionary. Any bytes are accepted.
/// The same text gives the same terms. Not thread-safe; cheap to make, so make one per call.
class Analyzer {
 public:
  /// Longer terms are cut; longer wholes left out.
  static constexpr std::size_t kTermBytesMax = 64;

  /// `language` is an ISO 639-1 code; "" and codes without a stemmer read as English.
  explicit Analyzer(std::string_view language = "en");
  ~Analyzer();
  Analyzer(Analyzer&&) noexcept;
  Analyzer& operator=(Analyzer&&) noexcept;

  void analyze(std::string_view text, const std::function<void(const Term&)>& sink);

  /// All terms in text order.
  std::vector<std::string> terms(std::string_view text);

  /// The distinct terms that say what a text is about, in order of first appearance: no wholes, no function words.
  std::vector<std::string> content_terms(std::string_view text);

  /// The code whose rules apply: "en" for what has no stemmer of its own.
  static std::string_view effective_language(std::string_view language);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace footnote::bm25
