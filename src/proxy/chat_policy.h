#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "domain/answer.h"
#include "proxy/policy.h"
#include "proxy/source_finder.h"

namespace footnote::proxy {

/// What a model is asked in place of the client's messages.
struct GroundedPrompt {
  std::string system;                 ///< The system text; the client's own is appended.
  std::string message;                ///< In place of the text of the client's last message: the question and the sources.
  std::size_t history_bytes_max = 0;  ///< Of earlier messages that go along.
  bool without_client_texts = false;  ///< Two messages alone: neither the client's system text nor earlier messages.
};

/// What becomes of one chat with a rag/ model.
struct ChatPlan {
  enum class Kind {
    kPassThrough,  ///< The model gets the client's messages as they are.
    kRefuse,       ///< No model is asked: `refusal` is the answer.
    kGround,       ///< The model gets `prompt`.
  };
  Kind kind = Kind::kPassThrough;
  GroundedPrompt prompt = {};         ///< Of kGround.
  std::vector<Source> sources = {};   ///< Of kGround: what `[n]` in the answer refers to.
  Refusal refusal = {};               ///< Of kRefuse; without its nearest passages.
  std::optional<OwnSearch> own = {};  ///< What was searched here. None: nothing was, so there is no turn to store.
};

/// Decides what becomes of a chat: which passages go into the prompt, when it is refused, and when it passes as it is. Sees neither HTTP
/// nor JSON. Thread-safe; borrows the finder and the policy.
class ChatPolicy {
 public:
  ChatPolicy(const SourceFinder& finder, const Policy& policy) : finder_(finder), policy_(policy) {}

  const Policy& policy() const { return policy_; }
  /// Errors as SourceFinder gives them. REQUIRES: a target of kind kGrounded.
  Result<ChatPlan> plan(const CallContext& call, WorkspaceId workspace, const Target& target, std::string_view question) const;

 private:
  GroundedPrompt prompt_for(const Target& target, std::string_view question, const std::vector<Source>& sources) const;

  const SourceFinder& finder_;
  const Policy& policy_;
};

}  // namespace footnote::proxy
