#pragma once

#include "ports/conversation_store.h"
#include "providers/sqlite/sqlite_store.h"

namespace footnote {

/// Implements ports/conversation_store.h (ConversationStore) over the embedded database.
///
/// finish_turn() creates the conversation if it is new. kNotFound: the turn's corpus is not in its workspace; kAlreadyExists: a turn with
/// that id is stored. history() of a conversation that the workspace does not have is kNotFound. usage() returns the days with any usage
/// among the last `days` up to today (UTC), oldest first.
class SqliteConversationStore final : public ConversationStore {
 public:
  explicit SqliteConversationStore(SqliteStore& store) : store_(store) {}

  Result<void> finish_turn(const CallContext& call, const Turn& turn, std::int64_t prompt_tokens, std::int64_t completion_tokens,
                           std::string_view trace) override;
  Result<Turn> turn(const CallContext& call, WorkspaceId workspace, const TurnId& id) const override;
  Result<std::string> trace(const CallContext& call, WorkspaceId workspace, const TurnId& id) const override;
  Result<std::vector<Turn>> history(const CallContext& call, WorkspaceId workspace, const ConversationId& id,
                                    std::size_t limit) const override;
  Result<std::vector<Gap>> gaps(const CallContext& call, CorpusId corpus, std::size_t limit) const override;
  Result<std::vector<Gap>> content_gaps(const CallContext& call, const GapQuery& query) const override;
  Result<Gap> resolve_gap(const CallContext& call, WorkspaceId workspace, GapId gap, UtcTime at) override;
  Result<Gap> report_gap(const CallContext& call, WorkspaceId workspace, CorpusId corpus, std::string_view question, GapReason reason,
                         UtcTime at) override;
  Result<std::vector<UsageDay>> usage(const CallContext& call, WorkspaceId workspace, std::size_t days) const override;

  // Visitors (visit_rows.cpp).
  Result<void> rate_turn(const CallContext& call, WorkspaceId workspace, const VisitorId& visitor, const TurnId& turn,
                         const Feedback& feedback) override;
  Result<std::vector<AgentGap>> agent_gaps(const CallContext& call, WorkspaceId workspace, const AgentId& agent,
                                           std::optional<GapStatus> status, std::size_t limit) const override;
  Result<AgentGap> agent_gap(const CallContext& call, WorkspaceId workspace, GapId gap) const override;
  Result<AgentGap> set_gap_status(const CallContext& call, WorkspaceId workspace, GapId gap, GapStatus status) override;
  Result<std::vector<AgentUsageDay>> agent_usage(const CallContext& call, WorkspaceId workspace, const AgentId& agent,
                                                 std::size_t days) const override;
  Result<std::vector<Turn>> visitor_turns(const CallContext& call, WorkspaceId workspace, const VisitorId& visitor) const override;
  Result<std::size_t> erase_visitor(const CallContext& call, WorkspaceId workspace, const VisitorId& visitor) override;
  Result<std::size_t> erase_turns(const CallContext& call, WorkspaceId workspace, const AgentId& agent, UtcTime before,
                                  std::size_t limit) override;

 private:
  SqliteStore& store_;
};

/// Normal form for comparing questions of gaps: ignores ASCII case, whitespace and closing punctuation.
std::string normalise_question(std::string_view question);

}  // namespace footnote
