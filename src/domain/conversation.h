#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "domain/answer.h"
#include "domain/ids.h"

namespace footnote {

struct Conversation {
  ConversationId id;
  WorkspaceId workspace;
  UtcTime created_at;
};

/// How a turn ended. kPartial: the stream broke off, what had come is kept.
enum class TurnState { kComplete, kPartial };

/// Why a turn is listed among what the corpus lacks.
enum class GapReason { kNoRelevantContext, kLlmSelfRefusal, kBlockedByGuardrails, kLowConfidence, kFailurePhrase, kDownVote };

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
  std::optional<GapReason> gap = {};  ///< Filled: the turn opens a gap, or counts in the one that is open.
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
  std::optional<UtcTime> resolved_at;
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
