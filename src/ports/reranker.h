#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "base/call_context.h"
#include "domain/judgement.h"

namespace footnote {

/// Judges how well each passage answers a question; one judgement per passage, in input order. Thread-safe. On kUnavailable and
/// kDeadlineExceeded callers keep the order they had.
class Reranker {
 public:
  virtual ~Reranker() = default;
  virtual Result<std::vector<Judgement>> rerank(const CallContext& call, std::string_view question,
                                                std::span<const std::string_view> passages) = 0;
};

}  // namespace footnote
