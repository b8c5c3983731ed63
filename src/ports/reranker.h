#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "base/call_context.h"

namespace footnote {

struct RerankScore {
  double raw = 0;         ///< On the model's own scale.
  double calibrated = 0;  ///< A probability of relevance, 0..1.
};

/// Scores how well each passage answers a question; one score per passage, in input order. Thread-safe.
/// kUnavailable and kDeadlineExceeded leave the caller with the order it had.
class Reranker {
 public:
  virtual ~Reranker() = default;
  virtual Result<std::vector<RerankScore>> rerank(const CallContext& call, std::string_view question,
                                                  std::span<const std::string_view> passages) = 0;
};

}  // namespace footnote
