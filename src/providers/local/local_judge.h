#pragma once

#include <memory>

#include "engine/nn/pair_reader.h"
#include "ports/reranker.h"

namespace footnote {

/// The built-in judge: relevance and the words that answer, from one reading of question and passage. Raw scores are the model's
/// logits; probabilities are calibrated as its config.json says. Special tokens spelled out in a text are plain characters.
class LocalJudge final : public Reranker {
 public:
  /// Of a passage that does not fit the model's window it reads `windows_max` windows: 1 is its beginning, nn::PairReader::kWindowsMax
  /// all of it. Several may share one reader.
  LocalJudge(std::shared_ptr<const nn::PairReader> reader, std::size_t windows_max)
      : reader_(std::move(reader)), windows_max_(windows_max) {}

  Result<std::vector<Judgement>> rerank(const CallContext& call, std::string_view question,
                                        std::span<const std::string_view> passages) override;

 private:
  const std::shared_ptr<const nn::PairReader> reader_;  // Thread-safe.
  const std::size_t windows_max_;
};

}  // namespace footnote
