#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "http/sse_parser.h"
#include "ports/llm.h"

namespace footnote {

/// A larger count of tokens in a usage report is not believed.
inline constexpr std::int64_t kTokensMax = 1'000'000'000;

/// The body of a streamed chat-completions request.
std::string render_chat_request(const ChatRequest& request, std::string_view model);

/// Our error for an upstream's HTTP status; the upstream's own words stay out of it.
Error upstream_error(int status);

/// Reads the stream of chunks that comes back, cut anywhere. Accepts usage in a chunk of its own, with or without
/// choices, or not at all.
class ChatStreamReader {
 public:
  using OnText = std::function<Result<void>(std::string_view)>;
  explicit ChatStreamReader(const OnText& on_text) : on_text_(on_text) {}

  /// kUnavailable: a chunk that is not JSON, or an error object in the stream.
  Result<void> feed(std::string_view bytes);
  /// The end of the body. kUnavailable when the stream broke off: neither a finish reason nor [DONE] was seen.
  Result<ChatEnd> finish() const;

 private:
  Result<void> take(std::string_view data);

  const OnText& on_text_;
  http::SseParser parser_;
  ChatEnd end_;
  bool ended_ = false;
};

}  // namespace footnote
