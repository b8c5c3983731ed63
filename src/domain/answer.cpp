#include "domain/answer.h"

namespace footnote {

std::string_view to_string(SourceOrigin origin) {
  switch (origin) {
    case SourceOrigin::kPrimary: return "primary";
    case SourceOrigin::kRelated: return "related";
    case SourceOrigin::kRejected: return "rejected";
  }
  return "primary";
}

std::string_view to_string(RefusalReason reason) {
  switch (reason) {
    case RefusalReason::kNoRelevantContext: return "no_relevant_context";
    case RefusalReason::kLlmSelfRefusal: return "llm_self_refusal";
    case RefusalReason::kBlockedByGuardrails: return "blocked_by_guardrails";
    case RefusalReason::kLanguageNotCovered: return "language_not_covered";
  }
  return "no_relevant_context";
}

}  // namespace footnote
