#pragma once

#include <memory>

#include "engine/nn/pair_reader.h"
#include "ports/reader.h"

namespace footnote {

/// Values tuned on one half of eval/realdocs; each set was tested with values fitted on the other sets (ADR 28).
struct BlockReaderOptions {
  std::size_t spans_max = 3;
  /// A quote grows from its best block to the neighbouring blocks, up to this size. A larger block is quoted whole.
  std::size_t quote_bytes_max = 700;
  /// Passages are ordered by relevance + rank_weight * rank score.
  double rank_weight = 12;
  /// Passages whose score is further below the best are not quoted.
  double below_best_max = 10;
  /// The probability that the quotes answer is the logistic function of
  /// margin * (best margin) + relevance * (best relevance) + coverage * (coverage of the best passage)
  /// + searched * log10(passages searched) + constant.
  double margin = 0.09;
  double relevance = 0.318;
  double coverage = 1.42;
  double searched = -0.40;
  double constant = 1.06;
  /// Below this probability, return no spans at all.
  double likely_min = 0.15;
  /// A few words are an answer on their own if their margin reaches this and they are no longer than `answer_bytes_max`.
  double answer_margin_min = 6;
  std::size_t answer_bytes_max = 40;
};

/// Reads question, title, headings and passage together with a trained model (models/reader) and compares the passages. Quotes the blocks
/// around the best spans of the best passages, and estimates how likely they answer. English. Thread-safe.
class BlockReader final : public Reader {
 public:
  explicit BlockReader(std::unique_ptr<nn::PairReader> model, BlockReaderOptions options = {})
      : model_(std::move(model)), options_(options) {}

  Result<Reading> read(const CallContext& call, const ReaderQuestion& question, std::span<const ReaderPassage> passages) override;

 private:
  ReadSpan quote(std::size_t passage, const ReaderPassage& text, const nn::PairReading& reading) const;
  double probability(const ReaderQuestion& question, std::span<const ReaderPassage> passages, std::span<const nn::PairReading> readings,
                     std::size_t best) const;

  const std::unique_ptr<nn::PairReader> model_;
  const BlockReaderOptions options_;
};

}  // namespace footnote
