#include "app/demo_agent.h"

namespace footnote::app {

namespace {

constexpr std::string_view kName = "Demo shop";

AgentSettings settings_of(CorpusId corpus) {
  return {.persona = {.name = "Thistle", .tone = "warm and to the point"},
          .guardrails = {},
          .starter_prompts = {"How long do I have to send things back?", "Can the Cairn boots be resoled?",
                              "What does shipping to Norway cost?"},
          .theme = {.accent = "#2f5d50", .accent_text = "#ffffff", .title = "Ask the shop"},
          .corpora = {corpus}};
}

}  // namespace

Result<AgentId> ensure_demo_agent(const CallContext& call, IngestParts& parts) {
  AgentStore& agents = parts.stores().agents();
  FOOTNOTE_TRY(const auto known, agents.agents(call, parts.workspace()));
  for (const Agent& agent : known) {
    if (agent.name != kName) continue;
    if (agent.published_version == 0) {
      FOOTNOTE_CHECK(agents.publish(call, parts.workspace(), agent.id));
    }
    return agent.id;
  }
  FOOTNOTE_TRY(const Corpus corpus, parts.catalog().ensure_corpus(call, parts.workspace(), kDemoCorpus, parts.embedder().space()));
  FOOTNOTE_TRY(const Agent made, agents.add_agent(call, parts.workspace(), kName, settings_of(corpus.id)));
  FOOTNOTE_CHECK(agents.publish(call, parts.workspace(), made.id));
  return made.id;
}

}  // namespace footnote::app
