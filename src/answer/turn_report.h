#pragma once

#include <chrono>
#include <cstdint>

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
  std::int64_t prompt_tokens = 0;
  std::int64_t completion_tokens = 0;
  TurnTrace trace;
};

}  // namespace footnote::answer
