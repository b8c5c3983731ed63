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
  std::string model;  ///< As named by the provider.
  std::int64_t prompt_tokens = 0;
  std::int64_t completion_tokens = 0;
};

/// A streaming language model. `on_text` gets each piece as it arrives, in order, on the calling thread; an error it returns ends the call
/// with that error. When `call` is stopped, the upstream connection is closed at once (kCancelled). Thread-safe. kUnavailable: no response,
/// a failure, or our key, model or request was rejected (the message says which). kResourceExhausted: the provider's rate limit. The
/// provider's own error text never reaches end users.
class Llm {
 public:
  virtual ~Llm() = default;
  virtual std::string model() const = 0;
  virtual Result<ChatEnd> stream(const CallContext& call, const ChatRequest& request,
                                 const std::function<Result<void>(std::string_view)>& on_text) = 0;
};

}  // namespace footnote
