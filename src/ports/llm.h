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

/// "stop", "length", "content_filter", "other". Model servers use the first three names too.
inline std::string_view to_string(FinishReason reason) {
  switch (reason) {
    case FinishReason::kStop: return "stop";
    case FinishReason::kLength: return "length";
    case FinishReason::kContentFilter: return "content_filter";
    case FinishReason::kOther: return "other";
  }
  return "other";
}
/// An unknown name is kOther.
inline FinishReason parse_finish_reason(std::string_view name) {
  for (const FinishReason reason : {FinishReason::kStop, FinishReason::kLength, FinishReason::kContentFilter}) {
    if (name == to_string(reason)) return reason;
  }
  return FinishReason::kOther;
}

/// Token counts of a model call, as reported by the provider.
struct TokenCounts {
  std::int64_t prompt = 0;
  std::int64_t completion = 0;

  bool operator==(const TokenCounts&) const = default;
};
/// The sum of two calls; nullopt unless both are known.
inline std::optional<TokenCounts> sum_of(const std::optional<TokenCounts>& a, const std::optional<TokenCounts>& b) {
  if (!a || !b) return std::nullopt;
  return TokenCounts{a->prompt + b->prompt, a->completion + b->completion};
}

struct ChatEnd {
  FinishReason finish = FinishReason::kStop;
  std::string model;                       ///< The model's name as reported by the provider.
  std::optional<TokenCounts> tokens = {};  ///< nullopt: the provider does not report them.
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
