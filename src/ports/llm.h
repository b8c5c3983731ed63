#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/call_context.h"

namespace footnote {

enum class ChatRole { kSystem, kUser, kAssistant };

struct ChatMessage {
  ChatRole role = ChatRole::kUser;
  std::string content;
};

struct ChatRequest {
  std::vector<ChatMessage> messages;
  double temperature = 0;
  int max_tokens = 800;
};

enum class FinishReason { kStop, kLength, kContentFilter, kOther };

struct ChatEnd {
  FinishReason finish = FinishReason::kStop;
  std::string model;  ///< As the provider named it.
  std::int64_t prompt_tokens = 0;
  std::int64_t completion_tokens = 0;
};

/// A language model that streams. `on_text` gets each piece as it comes, on the calling thread, in order; an
/// error that it returns ends the call with that error. When `call` is stopped the upstream connection is
/// closed at once (kCancelled). Thread-safe.
/// kUnavailable: no answer, a failure, or a refusal of our key, model or request (the message says which).
/// kResourceExhausted: the provider's limit. The provider's own words do not reach end users.
class Llm {
 public:
  virtual ~Llm() = default;
  virtual std::string model() const = 0;
  virtual Result<ChatEnd> stream(const CallContext& call, const ChatRequest& request,
                                 const std::function<Result<void>(std::string_view)>& on_text) = 0;
};

}  // namespace footnote
