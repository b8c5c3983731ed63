#pragma once

#include <memory>

#include "engine/nn/pair_reader.h"
#include "ports/reranker.h"

namespace footnote {

/// The built-in judge: relevance and the answering words, from one pass over question and passage. Raw scores are the model's logits;
/// probabilities are calibrated by its config.json. Special tokens spelled out in a text are plain characters.
class LocalJudge final : public Reranker {
 public:
  /// Reads at most `windows_max` windows of a passage longer than the model's window: 1 is its beginning, nn::PairReader::kWindowsMax all
  /// of it. Several judges may share one reader.
  LocalJudge(std::shared_ptr<const nn::PairReader> reader, std::size_t windows_max)
      : reader_(std::move(reader)), windows_max_(windows_max) {}

  Result<std::vector<Judgement>> rerank(const CallContext& call, std::string_view question,
                                        std::span<const std::string_view> passages) override;

 private:
  const std::shared_ptr<const nn::PairReader> reader_;  // thread-safe
  const std::size_t windows_max_;
};

}  // namespace footnote
