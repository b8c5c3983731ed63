#include "proxy/chat_policy.h"

#include "prompt/proxy_prompt.h"
#include "prompt/refusal_text.h"

namespace footnote::proxy {

GroundedPrompt ChatPolicy::prompt_for(const Target& target, std::string_view question, const std::vector<Source>& sources) const {
  std::vector<prompt::PromptSource> blocks;
  blocks.reserve(sources.size());
  for (const Source& source : sources) blocks.push_back({source.url, source.text});
  return {.system = target.system.empty() ? std::string(prompt::kProxySystem) : target.system,
          .message = prompt::build_proxy_message(question, blocks, policy_.characters_max),
          .history_bytes_max = policy_.history_bytes_max,
          .without_client_texts = policy_.seed_form};
}

Result<ChatPlan> ChatPolicy::plan(const CallContext& call, WorkspaceId workspace, const Target& target, std::string_view question) const {
  ChatPlan out;
  if (!policy_.enabled) return out;
  FOOTNOTE_TRY(Found found, finder_.find(call, workspace, target, question));
  out.own = std::move(found.own);
  if (policy_.no_hits == NoHits::kRefuse && !found.grounded) {
    out.kind = ChatPlan::Kind::kRefuse;
    const std::string_view language = out.own ? out.own->retrieval.foreign_language : std::string_view();
    const bool is_covered = !out.own || !out.own->retrieval.language_not_covered;
    out.refusal.reason = is_covered ? RefusalReason::kNoRelevantContext : RefusalReason::kLanguageNotCovered;
    out.refusal.text = is_covered ? prompt::no_context_text(language) : std::string(prompt::language_not_covered_text(language));
  } else if (!found.sources.empty()) {
    out.kind = ChatPlan::Kind::kGround;
    out.prompt = prompt_for(target, question, found.sources);
    out.sources = std::move(found.sources);
  }
  return out;
}

}  // namespace footnote::proxy
