#include "domain/answer.h"

#include <gtest/gtest.h>

namespace footnote {
namespace {

TEST(RefusalReason, NamesOnTheWireAreStable) {
  EXPECT_EQ(to_string(RefusalReason::kNoRelevantContext), "no_relevant_context");
  EXPECT_EQ(to_string(RefusalReason::kLlmSelfRefusal), "llm_self_refusal");
  EXPECT_EQ(to_string(RefusalReason::kBlockedByGuardrails), "blocked_by_guardrails");
  EXPECT_EQ(to_string(RefusalReason::kLanguageNotCovered), "language_not_covered");
}

}  // namespace
}  // namespace footnote
