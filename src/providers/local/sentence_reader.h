#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "ports/embedder.h"
#include "ports/reader.h"

namespace footnote {

/// The sentences of a text, in order, as byte ranges that do not overlap.
using SentenceSplitter = std::function<std::vector<TextRange>(std::string_view)>;

struct SentenceReaderOptions {
  std::size_t spans_max = 3;
  std::size_t sentences_max = 6;  ///< In all spans together.
  /// Spans that score below this share of the best are left out.
  double relative_min = 0.8;
  /// So are those below this: unrelated text scores about .03, the best sentence of a passage that answers from .28 up.
  double score_min = 0.15;
  /// Of a sentence's score: how much is the share of the question's content words that it holds; the rest is cosine.
  double words_weight = 0.4;
  /// How much each neighbour in the passage adds to a sentence: an answer often stands beside the words it answers.
  double neighbour_weight = 0.1;
  /// How much a sentence gains that holds the judge's answer, when that is certain.
  double answer_weight = 0.5;
  /// Words that answer by themselves are named when the judge is so sure of them,
  double answer_probability_min = 0.3;
  /// and they are no longer than this.
  std::size_t answer_bytes_max = 80;
};

/// The sentences nearest to the question by meaning and by words, whole, as they stand. Where a judge found words that answer, the sentence
/// that holds them is lifted by as much as it is sure.
/// All of them are embedded in one call; past kSentencesMax the ones with the fewest of the question's words are not
/// looked at. Neighbours that are both chosen become one span. Thread-safe when the splitter is.
/// Passes on the embedder's errors.
class SentenceReader final : public Reader {
 public:
  static constexpr std::size_t kSentencesMax = 96;

  /// Borrows the embedder, which must outlive this.
  SentenceReader(Embedder& embedder, SentenceSplitter split, SentenceReaderOptions options = {})
      : embedder_(embedder), split_(std::move(split)), options_(options) {}

  Result<Reading> read(const CallContext& call, std::string_view question, std::span<const std::string_view> passages,
                       std::span<const std::optional<FoundAnswer>> answers = {}) override;

 private:
  struct Sentence {
    std::size_t passage = 0;
    std::size_t ordinal = 0;  ///< Among the passage's sentences and headings.
    TextRange range;
    double words = 0;  ///< Share of the question's content words.
    double score = 0;
    std::optional<FoundAnswer> answer = {};  ///< The judge's, where it lies in this sentence.

    std::pair<std::size_t, std::size_t> place() const { return {passage, ordinal}; }
  };

  std::vector<Sentence> find_sentences(std::string_view question, std::span<const std::string_view> passages) const;
  Result<void> score(const CallContext& call, std::string_view question, std::span<const std::string_view> passages,
                     std::vector<Sentence>& sentences) const;
  void add_answers(std::span<const std::optional<FoundAnswer>> answers, std::vector<Sentence>& sentences) const;
  std::optional<TextRange> short_answer(const Sentence& sentence) const;
  Reading choose(std::vector<Sentence> sentences, bool wants_words) const;

  Embedder& embedder_;
  const SentenceSplitter split_;
  const SentenceReaderOptions options_;
};

}  // namespace footnote
