#pragma once

#include <string_view>

namespace footnote {

/// The stages of a turn that are timed, can fail, or can drop a candidate; in execution order.
enum class TurnStage {
  kCurated,   ///< Matching curated answers.
  kFollowUp,  ///< Rewriting a follow-up question for search.
  kRetrieve,  ///< Retrieval as a whole, if no single stage can be named.
  kRecall,    ///< A cached retrieval, which replaces the stages from kEmbed to kGate.
  kEmbed,
  kVector,
  kKeyword,
  kFuse,
  kLate,
  kFetch,
  kJudge,
  kSelect,
  kGate,
  kRead,    ///< The built-in reader.
  kPrompt,  ///< Building the prompt.
  kLlm,     ///< The language model's answer.
  kCite,
  kAnswer,  ///< The answer as a whole.
  kStore,
};

/// The stage's name on the wire, in traces and in metrics: "follow_up", "llm".
std::string_view to_string(TurnStage stage);

}  // namespace footnote
