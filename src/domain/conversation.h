#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "domain/answer.h"
#include "domain/ids.h"

namespace footnote {

/// How a turn ended. kPartial: the stream was interrupted; what had been received is kept.
enum class TurnState { kComplete, kPartial };

/// Why a turn is reported as a gap in the corpus.
enum class GapReason {
  kNoRelevantContext,
  kLlmSelfRefusal,
  kBlockedByGuardrails,
  kLowConfidence,
  kFailurePhrase,
  kDownVote,
  kLanguageNotCovered,
  kReported,  ///< A user said that this should be known.
};
/// The gap that a refusal opens. None for what was blocked: there the corpus is not the cause.
std::optional<GapReason> gap_of(RefusalReason reason);

/// State of a gap. A repeated question reopens an answered gap; an ignored one stays ignored.
enum class GapStatus { kOpen, kAnswered, kIgnored };

enum class Rating { kUp, kDown };

/// A visitor's rating of an answer.
struct Feedback {
  Rating rating = Rating::kUp;
  std::string reason = {};

  bool operator==(const Feedback&) const = default;
};
/// Limit on the reason, in code points.
inline constexpr std::size_t kFeedbackCharsMax = 500;

/// kInvalidArgument names the field.
Result<void> check_feedback(const Feedback& feedback);

/// Names on the wire: "no_relevant_context", "open", "up".
std::string_view to_string(GapReason reason);
std::optional<GapReason> parse_gap_reason(std::string_view name);
std::string_view to_string(GapStatus status);
std::optional<GapStatus> parse_gap_status(std::string_view name);
std::string_view to_string(Rating rating);
std::optional<Rating> parse_rating(std::string_view name);

/// The part of a turn that only site visitors have. `confidence` is that of the visitor's answer, 0..1; `flags` explain why it is low or
/// what failed: "one_source", "no_sources", "below_threshold", "degraded" ...
struct Visit {
  AgentId agent;
  VisitorId visitor;
  std::string page_url = {};
  bool curated = false;
  bool low_confidence = false;
  double confidence = 0;
  std::vector<std::string> flags = {};
  std::optional<GapReason> gap = {};      ///< Set: the turn opens a gap or counts in the open one.
  bool playground = false;                ///< A test of the draft by its owner: no counting, no gaps, no notifications.
  std::optional<Feedback> feedback = {};  ///< Filled when read from the store; finish_turn ignores it.
};

/// One question and its outcome, as stored.
struct Turn {
  TurnId id;
  WorkspaceId workspace;
  CorpusId corpus;
  ConversationId conversation;  ///< Empty for a stateless call.
  std::string question;
  Outcome outcome;
  TurnState state = TurnState::kComplete;
  Generation generation = 0;
  std::chrono::milliseconds latency{0};
  UtcTime asked_at;
  std::optional<Visit> visit = {};
};

/// A question that the corpus could not answer, aggregated over its repetitions.
struct Gap {
  GapId id;
  WorkspaceId workspace;
  CorpusId corpus;
  std::string question;
  GapReason reason = GapReason::kNoRelevantContext;
  std::int64_t occurrences = 1;
  UtcTime first_seen_at;
  UtcTime last_seen_at;
  std::optional<UtcTime> resolved_at = {};
};

/// A gap of an agent's visitors: one per question, whatever the reasons; `reason` is the latest.
struct AgentGap {
  GapId id;
  WorkspaceId workspace;
  AgentId agent;
  std::string question;  ///< As first asked.
  GapReason reason = GapReason::kNoRelevantContext;
  GapStatus status = GapStatus::kOpen;
  std::int64_t occurrences = 1;
  UtcTime first_seen_at;
  UtcTime last_seen_at;
};

/// An agent's visitor usage on one day.
struct AgentUsageDay {
  std::string day;  ///< "2026-03-01"
  std::int64_t turns = 0;
  std::int64_t curated = 0;
  std::int64_t refused = 0;
  std::int64_t prompt_tokens = 0;
  std::int64_t completion_tokens = 0;
};

/// A workspace's usage on one day.
struct UsageDay {
  std::string day;  ///< "2026-03-01"
  std::int64_t questions = 0;
  std::int64_t answers = 0;
  std::int64_t refusals = 0;
  std::int64_t prompt_tokens = 0;
  std::int64_t completion_tokens = 0;
};

/// Something that happened to a corpus, for feeds and webhooks. `payload` is JSON text.
struct Event {
  EventId id;
  WorkspaceId workspace;
  CorpusId corpus;
  std::string type;  ///< "generation_published", "document_failed" ...
  std::string payload;
  UtcTime happened_at;
};

}  // namespace footnote
