#pragma once

#include <functional>

#include "ports/agent_store.h"
#include "ports/conversation_store.h"

namespace footnote::answer {

/// Open gaps of an agent that are tried after one ingest: the most frequent ones.
inline constexpr std::size_t kGapsReplayedMax = 50;

/// Whether an agent with these settings would answer the question now.
using WouldAnswer =
    std::function<Result<bool>(const CallContext& call, WorkspaceId workspace, const AgentSettings& settings, std::string_view question)>;

/// Tries the open gaps of every agent that searches the corpus and closes those that would be answered now. Gaps that a visitor's
/// down-vote opened stay: an answer there was. A question that can't be tried stays open. Returns how many were closed.
Result<std::size_t> replay_gaps(const CallContext& call, const AgentStore& agents, ConversationStore& conversations, WorkspaceId workspace,
                                CorpusId corpus, const WouldAnswer& would_answer);

}  // namespace footnote::answer
