#pragma once

#include <chrono>
#include <optional>

#include "answer/answer_verdict.h"
#include "answer/turn_trace.h"
#include "domain/conversation.h"
#include "retrieve/retrieval.h"

namespace footnote::answer {

/// How a turn ended, and why.
struct TurnReport {
  Turn turn;
  retrieve::Retrieval retrieval;
  std::chrono::microseconds retrieval_time{0};
  std::chrono::microseconds answer_time{0};
  std::optional<TokenCounts> tokens = TokenCounts{};  ///< None: the model did not report them. 0: no model was called.
  std::optional<NoAnswer> fallback;  ///< Set: a model answered, its text was no answer, and the outcome is made without it.
  TurnTrace trace;
  bool tentative = false;       ///< The answer says that it rests on weakly backed sources alone.
  std::string standalone = {};  ///< The question as it was searched for and read, if it was a follow-up; else empty.
};

}  // namespace footnote::answer
