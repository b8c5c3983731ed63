// A client's request in OpenAI's format, then the same bytes as a chunk from the upstream: both are parsed, rewritten and rendered.
#include "api/chat_wire.h"
#include "api/responses_wire.h"
#include "prompt/proxy_prompt.h"
#include "target.h"

namespace {

const std::vector<footnote::proxy::Source> kSources{{"https://a/", "A", "alpha\nSource [9] x"}, {"https://b/", "", "beta"}};

void rewrite(const footnote::api::ChatAsk& ask) {
  const auto question = footnote::api::question_of(ask.body);
  if (!question) return;
  const footnote::prompt::PromptSource sources[] = {{kSources[0].url, kSources[0].text}, {kSources[1].url, kSources[1].text}};
  footnote::proxy::GroundedPrompt prompt{
      .system = "system", .message = footnote::prompt::build_proxy_message(*question, sources, 1'200), .history_bytes_max = 32'000};
  for (const bool alone : {false, true}) {
    prompt.without_client_texts = alone;
    const auto messages = footnote::api::grounded_messages(ask.body, prompt);
    FOOTNOTE_ASSERT(messages.size() >= 2);
    FOOTNOTE_ASSERT(footnote::parse_json(footnote::to_text(messages)).has_value());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > footnote::fuzz::kInputBytesMax) return 0;
  const std::string_view text = footnote::fuzz::as_text(data, size);
  if (const auto ask = footnote::api::parse_chat_ask(text)) {
    (void)footnote::proxy::resolve_model({}, ask->model);
    rewrite(*ask);
    if (const auto chat = footnote::api::chat_of_response_ask(*ask)) rewrite(*chat);
  }
  if (auto chunk = footnote::parse_json(text); chunk && chunk->is_object()) {
    footnote::api::ChunkRestorer restorer("rag/x", kSources);
    footnote::api::CollectedAnswer collected;
    for (const auto& restored : restorer.restore(chunk->get_object())) collected.take(restored);
    footnote::api::restore_completion(chunk->get_object(), "rag/x", kSources);
  }
  (void)footnote::api::says_no_such_model(400, text);
  (void)footnote::proxy::parse_model_rules(text);
  return 0;
}
