#include "providers/openai/openai_llm.h"

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
  if (!call.trace_id.empty()) upstream.headers.set("x-request-id", call.trace_id);

  ChatStreamReader reader(on_text);
  const auto on_head = [](int status, const http::Headers&) -> Result<void> {
    if (status != 200) return std::unexpected(upstream_error(status));
    return {};
  };
  FOOTNOTE_CHECK(client_.stream(call, upstream, on_head, [&](std::string_view bytes) { return reader.feed(bytes); }));
  FOOTNOTE_TRY(ChatEnd end, reader.finish());
  if (end.model.empty()) end.model = options_.model;
  return end;
}

}  // namespace footnote
