#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "ports/embedder.h"
#include "ports/reader.h"

namespace footnote {

/// Splits a text into sentences, in order, as byte ranges that do not overlap.
using SentenceSplitter = std::function<std::vector<TextRange>(std::string_view)>;

struct SentenceReaderOptions {
  std::size_t spans_max = 3;
  std::size_t sentences_max = 6;  ///< Maximum sentences in all spans together.
  /// Spans that score below this share of the best are dropped.
  double relative_min = 0.8;
  /// Spans that score below this are dropped too: unrelated text scores about .03, the best sentence of an answering passage .28 or more.
  double score_min = 0.15;
  /// Weight of the share of the question's content words in a sentence's score; the rest is cosine.
  double words_weight = 0.4;
  /// How much of each neighbour's score is added to a sentence: an answer is often next to the words it answers.
  double neighbour_weight = 0.1;
  /// How much a sentence gains if it contains the judge's answer, at probability 1.
  double answer_weight = 0.5;
  /// A short answer is returned if the judge is at least this sure of it,
  double answer_probability_min = 0.3;
  /// and it is no longer than this.
  std::size_t answer_bytes_max = 80;
};

/// Quotes the sentences closest to the question by meaning and by words. A sentence that contains the judge's answer is boosted by the
/// judge's confidence. All sentences are embedded in one call; beyond kSentencesMax those with the fewest of the question's words are
/// ignored. Adjacent chosen sentences become one span. Thread-safe if the splitter is. Returns the embedder's errors.
class SentenceReader final : public Reader {
 public:
  static constexpr std::size_t kSentencesMax = 96;

  /// Borrows the embedder, which must outlive this.
  SentenceReader(Embedder& embedder, SentenceSplitter split, SentenceReaderOptions options = {})
      : embedder_(embedder), split_(std::move(split)), options_(options) {}

  Result<Reading> read(const CallContext& call, const ReaderQuestion& question, std::span<const ReaderPassage> passages) override;

 private:
  struct Sentence {
    std::size_t passage = 0;
    std::size_t ordinal = 0;  ///< Index among the passage's sentences and headings.
    TextRange range;
    double words = 0;  ///< Share of the question's content words.
    double score = 0;
    std::optional<FoundAnswer> answer = {};  ///< The judge's answer, if it starts in this sentence.

    std::pair<std::size_t, std::size_t> place() const { return {passage, ordinal}; }
  };

  std::vector<Sentence> find_sentences(std::string_view question, std::span<const ReaderPassage> passages) const;
  Result<void> score(const CallContext& call, std::string_view question, std::span<const ReaderPassage> passages,
                     std::vector<Sentence>& sentences) const;
  void add_answers(std::span<const ReaderPassage> passages, std::vector<Sentence>& sentences) const;
  std::optional<TextRange> short_answer(const Sentence& sentence) const;
  Reading choose(std::vector<Sentence> sentences, bool wants_words) const;

  Embedder& embedder_;
  const SentenceSplitter split_;
  const SentenceReaderOptions options_;
};

}  // namespace footnote
