#include "domain/conversation.h"

#include "base/utf8.h"

namespace footnote {

std::string_view to_string(GapReason reason) {
  switch (reason) {
    case GapReason::kNoRelevantContext: return "no_relevant_context";
    case GapReason::kLlmSelfRefusal: return "llm_self_refusal";
    case GapReason::kBlockedByGuardrails: return "blocked_by_guardrails";
    case GapReason::kLowConfidence: return "low_confidence";
    case GapReason::kFailurePhrase: return "failure_phrase";
    case GapReason::kDownVote: return "down_vote";
    case GapReason::kLanguageNotCovered: return "language_not_covered";
    case GapReason::kReported: return "reported";
  }
  return "no_relevant_context";
}

std::optional<GapReason> parse_gap_reason(std::string_view name) {
  using enum GapReason;
  for (const GapReason reason : {kNoRelevantContext, kLlmSelfRefusal, kBlockedByGuardrails, kLowConfidence, kFailurePhrase, kDownVote,
                                 kLanguageNotCovered, kReported}) {
    if (to_string(reason) == name) return reason;
  }
  return std::nullopt;
}

std::optional<GapReason> gap_of(RefusalReason reason) {
  switch (reason) {
    case RefusalReason::kNoRelevantContext: return GapReason::kNoRelevantContext;
    case RefusalReason::kLlmSelfRefusal: return GapReason::kLlmSelfRefusal;
    case RefusalReason::kLanguageNotCovered: return GapReason::kLanguageNotCovered;
    case RefusalReason::kBlockedByGuardrails: return std::nullopt;
  }
  return std::nullopt;
}

std::string_view to_string(GapStatus status) {
  switch (status) {
    case GapStatus::kOpen: return "open";
    case GapStatus::kAnswered: return "answered";
    case GapStatus::kIgnored: return "ignored";
  }
  return "open";
}

std::optional<GapStatus> parse_gap_status(std::string_view name) {
  for (const GapStatus status : {GapStatus::kOpen, GapStatus::kAnswered, GapStatus::kIgnored}) {
    if (to_string(status) == name) return status;
  }
  return std::nullopt;
}

Result<void> check_feedback(const Feedback& feedback) {
  if (is_valid_utf8(feedback.reason) && count_code_points(feedback.reason) <= kFeedbackCharsMax) return {};
  return fail_field(ErrorCode::kInvalidArgument, "reason", "'reason' must have at most {} characters of valid UTF-8", kFeedbackCharsMax);
}

std::string_view to_string(Rating rating) {
  switch (rating) {
    case Rating::kUp: return "up";
    case Rating::kDown: return "down";
  }
  return "up";
}

std::optional<Rating> parse_rating(std::string_view name) {
  for (const Rating rating : {Rating::kUp, Rating::kDown}) {
    if (to_string(rating) == name) return rating;
  }
  return std::nullopt;
}

}  // namespace footnote
