#pragma once

#include <functional>

#include "ports/agent_store.h"
#include "ports/conversation_store.h"

namespace footnote::answer {

/// Bound on the open gaps of an agent that are retried after one ingest; the most frequent are chosen.
inline constexpr std::size_t kGapsReplayedMax = 50;

/// Whether an agent with these settings would answer the question now.
using WouldAnswer =
    std::function<Result<bool>(const CallContext& call, WorkspaceId workspace, const AgentSettings& settings, std::string_view question)>;

/// Retries the open gaps of every agent that searches the corpus and closes those that would be answered now. Gaps opened by a down-vote
/// stay open, because an answer existed, and so do questions that cannot be tried. Returns the number of closed gaps.
Result<std::size_t> replay_gaps(const CallContext& call, const AgentStore& agents, ConversationStore& conversations, WorkspaceId workspace,
                                CorpusId corpus, const WouldAnswer& would_answer);

}  // namespace footnote::answer
