#pragma once

#include <string_view>

namespace footnote {

/// The stages of a turn that are timed, that can fail, or at which a candidate can be cut; in the order in which they run.
enum class TurnStage {
  kCurated,   ///< Matching curated answers.
  kFollowUp,  ///< Making a follow-up searchable.
  kRetrieve,  ///< Retrieval as a whole, where no single stage can be named.
  kRecall,    ///< A cached retrieval, in place of the stages from kEmbed to kGate.
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
