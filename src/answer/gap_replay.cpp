#include "answer/gap_replay.h"

#include <algorithm>

namespace footnote::answer {

namespace {

/// The published settings; the draft if the agent was never published.
Result<AgentSettings> settings_of(const CallContext& call, const AgentStore& agents, const Agent& agent) {
  if (agent.published_version == 0) return agent.draft;
  FOOTNOTE_TRY(PublishedAgent published, agents.published(call, agent.id));
  return std::move(published.settings);
}

Result<std::size_t> replay_of_agent(const CallContext& call, ConversationStore& conversations, const Agent& agent,
                                    const AgentSettings& settings, const WouldAnswer& would_answer) {
  FOOTNOTE_TRY(const auto gaps, conversations.agent_gaps(call, agent.workspace, agent.id, GapStatus::kOpen, kGapsReplayedMax));
  std::size_t closed = 0;
  for (const AgentGap& gap : gaps) {
    FOOTNOTE_CHECK(call.check());
    if (gap.reason == GapReason::kDownVote) continue;
    const auto answered = would_answer(call, agent.workspace, settings, gap.question);
    if (!answered || !*answered) continue;
    FOOTNOTE_CHECK(conversations.set_gap_status(call, agent.workspace, gap.id, GapStatus::kAnswered));
    ++closed;
  }
  return closed;
}

}  // namespace

Result<std::size_t> replay_gaps(const CallContext& call, const AgentStore& agents, ConversationStore& conversations, WorkspaceId workspace,
                                CorpusId corpus, const WouldAnswer& would_answer) {
  FOOTNOTE_TRY(const auto all, agents.agents(call, workspace));
  std::size_t closed = 0;
  for (const Agent& agent : all) {
    FOOTNOTE_TRY(const AgentSettings settings, settings_of(call, agents, agent));
    if (std::ranges::find(settings.corpora, corpus) == settings.corpora.end()) continue;
    FOOTNOTE_TRY(const std::size_t more, replay_of_agent(call, conversations, agent, settings, would_answer));
    closed += more;
  }
  return closed;
}

}  // namespace footnote::answer
