#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "domain/answer.h"
#include "proxy/policy.h"
#include "proxy/source_finder.h"

namespace footnote::proxy {

/// The prompt that replaces the client's messages.
struct GroundedPrompt {
  std::string system;                 ///< The system text; the client's own is appended.
  std::string message;                ///< Replaces the text of the client's last message: the question and the sources.
  std::size_t history_bytes_max = 0;  ///< Bound on the earlier messages that are included.
  bool without_client_texts = false;  ///< Only two messages: neither the client's system text nor earlier messages are included.
};

/// What to do with one chat for a rag/ model.
struct ChatPlan {
  enum class Kind {
    kPassThrough,  ///< The model gets the client's messages unchanged.
    kRefuse,       ///< No model call: `refusal` is the answer.
    kGround,       ///< The model gets `prompt`.
  };
  Kind kind = Kind::kPassThrough;
  GroundedPrompt prompt = {};         ///< For kGround.
  std::vector<Source> sources = {};   ///< For kGround: what `[n]` in the answer refers to.
  Refusal refusal = {};               ///< For kRefuse; without closest passages.
  std::optional<OwnSearch> own = {};  ///< The search in our own store. None: there was none, so there is no turn to store.
};

/// Decides how to handle a chat: which passages go into the prompt, when to refuse, and when to pass it through. Independent of HTTP and
/// JSON. Thread-safe; borrows the finder and the policy.
class ChatPolicy {
 public:
  ChatPolicy(const SourceFinder& finder, const Policy& policy) : finder_(finder), policy_(policy) {}

  const Policy& policy() const { return policy_; }
  /// Errors: those of SourceFinder. REQUIRES: a target of kind kGrounded.
  Result<ChatPlan> plan(const CallContext& call, WorkspaceId workspace, const Target& target, std::string_view question) const;

 private:
  GroundedPrompt prompt_for(const Target& target, std::string_view question, const std::vector<Source>& sources) const;

  const SourceFinder& finder_;
  const Policy& policy_;
};

}  // namespace footnote::proxy
