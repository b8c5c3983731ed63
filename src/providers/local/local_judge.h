#pragma once

#include <memory>

#include "engine/nn/pair_reader.h"
#include "ports/reranker.h"

namespace footnote {

/// The built-in judge: relevance and the answering words, from one pass over question and passage. Raw scores are the model's logits;
/// probabilities are calibrated by its config.json. Special tokens spelled out in a text are plain characters.
class LocalJudge final : public Reranker {
 public:
  /// How much of a passage is read.
  struct Reading {
    /// How many windows of a long text are read: 1 reads its beginning, nn::PairReader::kWindowsMax all of it.
    std::size_t windows_max = nn::PairReader::kWindowsMax;
    /// Limits longer passages to their first line and the part that shares most words with the question, together this many bytes
    /// (judge_excerpt.h). 0: whole passages.
    std::size_t excerpt_bytes = 0;
  };
  /// For ranking: takes about a third of the time of whole passages and ranks no worse (docs/adr/0033-what-the-judge-reads.md).
  static constexpr std::size_t kExcerptBytes = 300;

  /// Several judges may share one reader.
  LocalJudge(std::shared_ptr<const nn::PairReader> reader, const Reading& reading) : reader_(std::move(reader)), reading_(reading) {}

  Result<std::vector<Judgement>> rerank(const CallContext& call, std::string_view question,
                                        std::span<const std::string_view> passages) override;

 private:
  Result<std::vector<Judgement>> judge(const CallContext& call, std::string_view question, std::span<const std::string_view> texts) const;

  const std::shared_ptr<const nn::PairReader> reader_;  // thread-safe
  const Reading reading_;
};

}  // namespace footnote
