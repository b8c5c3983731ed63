#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/call_context.h"
#include "domain/conversation.h"

namespace footnote {

/// A turn's trace is at most this long.
inline constexpr std::size_t kTurnTraceBytesMax = 64 << 10;
/// How long it is remembered that a visitor was erased: longer than an answer takes.
inline constexpr std::chrono::hours kErasureKept{1};

/// Turns and what is counted from them. Thread-safe; writes are durable when they return. Called after the last
/// token of an answer, never between the first and the last.
class ConversationStore {
 public:
  virtual ~ConversationStore() = default;
  /// Stores the turn with its trace (a JSON text that no store looks into; empty: none), counts it in the day's
  /// usage, appends its event kTurnCompleted, and for a refusal rolls up its gap: one step. kTooLarge: a trace past kTurnTraceBytesMax.
  /// A turn with a `visit` is counted in its agent's day too and rolls up the agent's gap, which `visit.gap` alone decides; the
  /// workspace's webhooks for "turn.completed" and "gap.opened" (a new gap, or one that is open again) get their messages in the same step.
  /// One of the playground is stored and nothing more. One whose visitor was erased while it was answered is counted and nothing more.
  virtual Result<void> finish_turn(const CallContext& call, const Turn& turn, std::int64_t prompt_tokens, std::int64_t completion_tokens,
                                   std::string_view trace) = 0;
  virtual Result<Turn> turn(const CallContext& call, WorkspaceId workspace, const TurnId& id) const = 0;
  /// As it was stored; it goes with its turn. kNotFound: the workspace has no such turn, or that has no trace.
  virtual Result<std::string> trace(const CallContext& call, WorkspaceId workspace, const TurnId& id) const = 0;
  /// The last `limit` turns of a conversation, oldest first.
  virtual Result<std::vector<Turn>> history(const CallContext& call, WorkspaceId workspace, const ConversationId& id,
                                            std::size_t limit) const = 0;
  /// Open gaps, most frequent first.
  virtual Result<std::vector<Gap>> gaps(const CallContext& call, CorpusId corpus, std::size_t limit) const = 0;
  /// The visitor's word on a turn of theirs; the last one counts. A down-vote rolls up the agent's gap, once for each turn.
  /// kNotFound: that visitor has no such turn. kInvalidArgument: a reason past kFeedbackCharsMax.
  virtual Result<void> rate_turn(const CallContext& call, WorkspaceId workspace, const VisitorId& visitor, const TurnId& turn,
                                 const Feedback& feedback) = 0;
  /// Of one agent, most frequent first; all of them without a status.
  virtual Result<std::vector<AgentGap>> agent_gaps(const CallContext& call, WorkspaceId workspace, const AgentId& agent,
                                                   std::optional<GapStatus> status, std::size_t limit) const = 0;
  virtual Result<AgentGap> agent_gap(const CallContext& call, WorkspaceId workspace, GapId gap) const = 0;
  virtual Result<AgentGap> set_gap_status(const CallContext& call, WorkspaceId workspace, GapId gap, GapStatus status) = 0;
  /// The last `days` days up to today (UTC) that saw any use, oldest first.
  virtual Result<std::vector<AgentUsageDay>> agent_usage(const CallContext& call, WorkspaceId workspace, const AgentId& agent,
                                                         std::size_t days) const = 0;
  /// Everything that is kept of one visitor, oldest first; empty: nothing is.
  virtual Result<std::vector<Turn>> visitor_turns(const CallContext& call, WorkspaceId workspace, const VisitorId& visitor) const = 0;
  /// Deletes a visitor's turns with their traces, conversations and feedback. A gap that nobody else asked about goes too; another
  /// keeps the words of somebody else. Counts of days stay. Returns how many turns there were.
  virtual Result<std::size_t> erase_visitor(const CallContext& call, WorkspaceId workspace, const VisitorId& visitor) = 0;
  /// The same for an agent's turns of before, oldest first, at most `limit` of them; and its gaps that were last seen before.
  virtual Result<std::size_t> erase_turns(const CallContext& call, WorkspaceId workspace, const AgentId& agent, UtcTime before,
                                          std::size_t limit) = 0;
  virtual Result<std::vector<UsageDay>> usage(const CallContext& call, WorkspaceId workspace, std::size_t days) const = 0;
};

}  // namespace footnote
