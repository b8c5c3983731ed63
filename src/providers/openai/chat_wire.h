#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "http/sse_parser.h"
#include "ports/llm.h"

namespace footnote {

/// Larger token counts in a usage report are ignored as implausible.
inline constexpr std::int64_t kTokensMax = 1'000'000'000;

/// The body of a streamed chat-completions request.
std::string render_chat_request(const ChatRequest& request, std::string_view model);

/// Our error for an upstream's HTTP status; never contains the upstream's own text.
Error upstream_error(int status);

/// Parses the streamed response from bytes split anywhere. Usage may come in a separate chunk, with or without choices, or not at all.
class ChatStreamReader {
 public:
  using OnText = std::function<Result<void>(std::string_view)>;
  explicit ChatStreamReader(const OnText& on_text) : on_text_(on_text) {}

  /// kUnavailable: a chunk that is not JSON, or an error object in the stream.
  Result<void> feed(std::string_view bytes);
  /// Call at the end of the body. kUnavailable if the stream was truncated: neither a finish reason nor [DONE] was seen.
  Result<ChatEnd> finish() const;

 private:
  Result<void> take(std::string_view data);

  const OnText& on_text_;
  http::SseParser parser_;
  ChatEnd end_;
  bool ended_ = false;
};

}  // namespace footnote
