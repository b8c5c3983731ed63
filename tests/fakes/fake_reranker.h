#pragma once

#include "fakes/faults.h"
#include "ports/reranker.h"

namespace footnote::fakes {

/// Scores a passage by the share of the question's content words that it contains: raw from -5 (none) to 5 (all). Thread-safe.
class FakeReranker final : public Reranker {
 public:
  Result<std::vector<Judgement>> rerank(const CallContext& call, std::string_view question,
                                        std::span<const std::string_view> passages) override;
  Faults& faults() { return faults_; }

 private:
  Faults faults_;
};

}  // namespace footnote::fakes
