#pragma once

#include <chrono>
#include <optional>

#include "answer/turn_trace.h"
#include "domain/conversation.h"
#include "retrieve/retrieval.h"

namespace footnote::answer {

/// How a turn ended, with what explains it.
struct TurnReport {
  Turn turn;
  retrieve::Retrieval retrieval;
  std::chrono::microseconds retrieval_time{0};
  std::chrono::microseconds answer_time{0};
  std::optional<TokenCounts> tokens = TokenCounts{};  ///< None: a model did not tell. 0: none was asked.
  TurnTrace trace;
};

}  // namespace footnote::answer
