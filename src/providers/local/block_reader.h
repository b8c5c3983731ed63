#pragma once

#include <memory>

#include "engine/nn/pair_reader.h"
#include "ports/reader.h"

namespace footnote {

/// Values tuned on one half of eval/realdocs; each set was tested with values fitted on the other sets (ADR 28).
struct BlockReaderOptions {
  /// One more than an answer shows: two that touch in their document become one.
  std::size_t spans_max = 4;
  /// A quote holds its best block and neighbouring ones up to this size. A larger block is quoted whole.
  std::size_t quote_bytes_max = 800;
  /// How much lower a neighbour's margin may be to count half as much or so: see BlockReader::quote().
  double quote_spread = 4;
  /// A passage's place: relevance + rank_weight * rank score. The relevance of the first few is that of their quotes alone, unless a quote
  /// is most of its passage.
  double rank_weight = 6;
  std::size_t alone_max = 4;
  double whole_share_min = 0.8;
  /// Passages further below the best are not quoted.
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
  struct Candidate;
  ReadSpan quote(std::size_t passage, const ReaderPassage& text, const nn::PairReading& reading) const;
  double place(const Candidate& candidate) const;
  Result<void> read_alone(const CallContext& call, std::string_view question, std::span<const ReaderPassage> passages,
                          std::span<Candidate> first) const;
  double probability(const ReaderQuestion& question, std::span<const Candidate> candidates) const;

  const std::unique_ptr<nn::PairReader> model_;
  const BlockReaderOptions options_;
};

}  // namespace footnote
