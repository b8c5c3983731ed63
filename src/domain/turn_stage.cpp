#include "domain/turn_stage.h"

namespace footnote {

std::string_view to_string(TurnStage stage) {
  switch (stage) {
    case TurnStage::kCurated: return "curated";
    case TurnStage::kFollowUp: return "follow_up";
    case TurnStage::kRetrieve: return "retrieve";
    case TurnStage::kRecall: return "recall";
    case TurnStage::kEmbed: return "embed";
    case TurnStage::kVector: return "vector";
    case TurnStage::kKeyword: return "keyword";
    case TurnStage::kFuse: return "fuse";
    case TurnStage::kLate: return "late";
    case TurnStage::kFetch: return "fetch";
    case TurnStage::kJudge: return "judge";
    case TurnStage::kSelect: return "select";
    case TurnStage::kGate: return "gate";
    case TurnStage::kRead: return "read";
    case TurnStage::kPrompt: return "prompt";
    case TurnStage::kLlm: return "llm";
    case TurnStage::kCite: return "cite";
    case TurnStage::kAnswer: return "answer";
    case TurnStage::kStore: return "store";
  }
  return "answer";
}

}  // namespace footnote
