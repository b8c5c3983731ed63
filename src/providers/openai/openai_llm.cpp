#include "providers/openai/openai_llm.h"

#include "base/log.h"
#include "http/url.h"
#include "providers/openai/chat_wire.h"

namespace footnote {

Result<ChatEnd> OpenAiLlm::stream(const CallContext& call, const ChatRequest& request,
                                  const std::function<Result<void>(std::string_view)>& on_text) {
  http::ClientRequest upstream{.method = http::Method::kPost,
                               .url = http::join_url(options_.base_url, "/chat/completions"),
                               .headers = {{"content-type", "application/json"}, {"accept", "text/event-stream"}},
                               .body = render_chat_request(request, options_.model)};
  if (!options_.api_key.empty()) upstream.headers.set("authorization", "Bearer " + options_.api_key);
  if (!call.request_id.empty()) upstream.headers.set("x-request-id", call.request_id);

  ChatStreamReader reader(on_text);
  bool refused = false;
  const auto on_head = [&](int code, const http::Headers&) -> Result<void> {
    refused = code != 200;
    if (refused) return std::unexpected(upstream_error(code));
    return {};
  };
  bool answered = false;
  const auto on_body = [&](std::string_view bytes) {
    answered = true;
    return reader.feed(bytes);
  };
  const auto began = std::chrono::steady_clock::now();
  const auto status = client_.stream(call, upstream, on_head, on_body);
  log(LogLevel::kDebug, "llm", "call", call,
      {{"model", options_.model},
       {"outcome", status ? "ok" : to_string(status.error().code)},
       {"request_bytes", upstream.body.size()},
       {"duration_ms", std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - began).count()}});
  if (!status && status.error().code == ErrorCode::kUnavailable && !answered && !refused) {
    return with_context(status.error(), "the language model does not answer (LLM_BASE_URL; `footnote doctor` checks it)");
  }
  if (!status) return std::unexpected(status.error());
  FOOTNOTE_TRY(ChatEnd end, reader.finish());
  if (end.model.empty()) end.model = options_.model;
  return end;
}

}  // namespace footnote
