#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "domain/answer.h"
#include "domain/ids.h"

namespace footnote {

/// How a turn ended. kPartial: the stream broke off, what had come is kept.
enum class TurnState { kComplete, kPartial };

/// Why a turn is listed among what the corpus lacks.
enum class GapReason { kNoRelevantContext, kLlmSelfRefusal, kBlockedByGuardrails, kLowConfidence, kFailurePhrase, kDownVote };

/// What has become of a gap. A question that comes up again opens an answered one; an ignored one stays ignored.
enum class GapStatus { kOpen, kAnswered, kIgnored };

enum class Rating { kUp, kDown };

/// What a visitor thought of an answer.
struct Feedback {
  Rating rating = Rating::kUp;
  std::string reason = {};

  bool operator==(const Feedback&) const = default;
};
/// Code points of a reason.
inline constexpr std::size_t kFeedbackCharsMax = 500;

/// kInvalidArgument names the field.
Result<void> check_feedback(const Feedback& feedback);

/// Names on the wire: "no_relevant_context", "open", "up".
std::string_view to_string(GapReason reason);
std::string_view to_string(GapStatus status);
std::optional<GapStatus> parse_gap_status(std::string_view name);
std::string_view to_string(Rating rating);
std::optional<Rating> parse_rating(std::string_view name);

/// What a turn of a site's visitor has beyond any other. Its confidence is that of the visitor's answer, 0..1; `flags` say why it is
/// low or what failed on the way: "one_source", "no_sources", "below_threshold", "degraded" ...
struct Visit {
  AgentId agent;
  VisitorId visitor;
  std::string page_url = {};
  bool curated = false;
  bool low_confidence = false;
  double confidence = 0;
  std::vector<std::string> flags = {};
  std::optional<GapReason> gap = {};      ///< Filled: the turn opens a gap, or counts in the one that is open.
  bool playground = false;                ///< The owner tries the draft: nothing is counted, no gap is opened, nobody is told.
  std::optional<Feedback> feedback = {};  ///< Read from the store; finish_turn does not look at it.
};

/// One question and what came of it, as it is stored.
struct Turn {
  TurnId id;
  WorkspaceId workspace;
  CorpusId corpus;
  ConversationId conversation;  ///< None for a stateless call.
  std::string question;
  Outcome outcome;
  TurnState state = TurnState::kComplete;
  Generation generation = 0;
  std::chrono::milliseconds latency{0};
  UtcTime asked_at;
  std::optional<Visit> visit = {};
};

/// A question that the corpus could not answer, rolled up over its repetitions.
struct Gap {
  GapId id;
  WorkspaceId workspace;
  CorpusId corpus;
  std::string question;
  RefusalReason reason = RefusalReason::kNoRelevantContext;
  std::int64_t occurrences = 1;
  UtcTime first_seen_at;
  UtcTime last_seen_at;
};

/// The same of an agent's visitors: one for each question, whatever the reasons; `reason` is the last one's.
struct AgentGap {
  GapId id;
  WorkspaceId workspace;
  AgentId agent;
  std::string question;  ///< As it was first asked.
  GapReason reason = GapReason::kNoRelevantContext;
  GapStatus status = GapStatus::kOpen;
  std::int64_t occurrences = 1;
  UtcTime first_seen_at;
  UtcTime last_seen_at;
};

/// What an agent's visitors used on one day.
struct AgentUsageDay {
  std::string day;  ///< "2026-03-01"
  std::int64_t turns = 0;
  std::int64_t curated = 0;
  std::int64_t refused = 0;
  std::int64_t prompt_tokens = 0;
  std::int64_t completion_tokens = 0;
};

/// What a workspace used on one day.
struct UsageDay {
  std::string day;  ///< "2026-03-01"
  std::int64_t questions = 0;
  std::int64_t answers = 0;
  std::int64_t refusals = 0;
  std::int64_t prompt_tokens = 0;
  std::int64_t completion_tokens = 0;
};

/// Something that happened to a corpus, for feeds and webhooks. `payload` is a JSON text.
struct Event {
  EventId id;
  WorkspaceId workspace;
  CorpusId corpus;
  std::string type;  ///< "generation_published", "document_failed" ...
  std::string payload;
  UtcTime happened_at;
};

}  // namespace footnote
