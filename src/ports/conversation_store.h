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

/// Limit on the length of a turn's trace.
inline constexpr std::size_t kTurnTraceBytesMax = 64 << 10;
/// How long a visitor's erasure is remembered: longer than an answer takes.
inline constexpr std::chrono::hours kErasureKept{1};

/// Which gaps to list, most frequent first.
struct GapQuery {
  WorkspaceId workspace;
  std::vector<CorpusId> corpora = {};  ///< Empty: all of the workspace.
  std::optional<GapReason> reason = {};
  bool include_resolved = false;
  std::size_t limit = 50;
};

/// Turns and the statistics derived from them. Thread-safe; writes are durable when they return. Called only after the last token of an
/// answer, never while it is streamed.
class ConversationStore {
 public:
  virtual ~ConversationStore() = default;
  /// In one transaction: stores the turn with its trace (JSON text, opaque to the store; empty: none), adds it to the day's usage, appends
  /// its kTurnCompleted event, and for a refusal updates its gap (gap_of). kTooLarge: a trace longer than kTurnTraceBytesMax. A turn with a
  /// `visit` also counts in its agent's day and updates the agent's gap, if `visit.gap` is set; messages to the workspace's webhooks for
  /// "turn.completed" and "gap.opened" (a new or reopened gap) are queued in the same transaction. A playground turn is only stored. A turn
  /// whose visitor was erased meanwhile is only counted.
  virtual Result<void> finish_turn(const CallContext& call, const Turn& turn, std::int64_t prompt_tokens, std::int64_t completion_tokens,
                                   std::string_view trace) = 0;
  virtual Result<Turn> turn(const CallContext& call, WorkspaceId workspace, const TurnId& id) const = 0;
  /// The trace as stored; deleted together with its turn, or earlier by the store's limit on traces. kNotFound: no such turn in this
  /// workspace, or it has no trace.
  virtual Result<std::string> trace(const CallContext& call, WorkspaceId workspace, const TurnId& id) const = 0;
  /// The last `limit` turns of a conversation, oldest first.
  virtual Result<std::vector<Turn>> history(const CallContext& call, WorkspaceId workspace, const ConversationId& id,
                                            std::size_t limit) const = 0;
  /// Open gaps of a corpus, most frequent first. Those of a site's visitors are their agent's.
  virtual Result<std::vector<Gap>> gaps(const CallContext& call, CorpusId corpus, std::size_t limit) const = 0;
  virtual Result<std::vector<Gap>> content_gaps(const CallContext& call, const GapQuery& query) const = 0;
  /// Resolved until the question is refused again. kNotFound: no such gap in that workspace.
  virtual Result<Gap> resolve_gap(const CallContext& call, WorkspaceId workspace, GapId gap, UtcTime at) = 0;
  /// Counts a question as a gap without a turn. kNotFound: the corpus is not in that workspace.
  virtual Result<Gap> report_gap(const CallContext& call, WorkspaceId workspace, CorpusId corpus, std::string_view question,
                                 GapReason reason, UtcTime at) = 0;
  /// Stores the visitor's rating of one of their turns; the last one counts. A down-vote updates the agent's gap, once per turn. kNotFound:
  /// the visitor has no such turn. kInvalidArgument: a reason longer than kFeedbackCharsMax.
  virtual Result<void> rate_turn(const CallContext& call, WorkspaceId workspace, const VisitorId& visitor, const TurnId& turn,
                                 const Feedback& feedback) = 0;
  /// Gaps of one agent, most frequent first; without a status, all of them.
  virtual Result<std::vector<AgentGap>> agent_gaps(const CallContext& call, WorkspaceId workspace, const AgentId& agent,
                                                   std::optional<GapStatus> status, std::size_t limit) const = 0;
  virtual Result<AgentGap> agent_gap(const CallContext& call, WorkspaceId workspace, GapId gap) const = 0;
  virtual Result<AgentGap> set_gap_status(const CallContext& call, WorkspaceId workspace, GapId gap, GapStatus status) = 0;
  /// Days with any usage among the last `days` up to today (UTC), oldest first.
  virtual Result<std::vector<AgentUsageDay>> agent_usage(const CallContext& call, WorkspaceId workspace, const AgentId& agent,
                                                         std::size_t days) const = 0;
  /// Everything stored about one visitor, oldest first; may be empty.
  virtual Result<std::vector<Turn>> visitor_turns(const CallContext& call, WorkspaceId workspace, const VisitorId& visitor) const = 0;
  /// Deletes a visitor's turns with their traces, conversations and feedback. Also deletes gaps that nobody else asked about; other gaps
  /// get the wording of another visitor. Daily counts are kept. Returns the number of deleted turns.
  virtual Result<std::size_t> erase_visitor(const CallContext& call, WorkspaceId workspace, const VisitorId& visitor) = 0;
  /// Like erase_visitor, for an agent's turns before `before`, oldest first, at most `limit`; also deletes its gaps last seen before then.
  virtual Result<std::size_t> erase_turns(const CallContext& call, WorkspaceId workspace, const AgentId& agent, UtcTime before,
                                          std::size_t limit) = 0;
  virtual Result<std::vector<UsageDay>> usage(const CallContext& call, WorkspaceId workspace, std::size_t days) const = 0;
};

}  // namespace footnote
