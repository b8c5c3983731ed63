#include "providers/openai/chat_wire.h"

#include "base/json.h"

namespace footnote {

namespace {

std::string_view role_name(ChatRole role) {
  switch (role) {
    case ChatRole::kSystem: return "system";
    case ChatRole::kUser: return "user";
    case ChatRole::kAssistant: return "assistant";
  }
  return "user";
}

/// A member of an object, or null for anything else.
const Json* member(const Json* value, std::string_view key) {
  return value != nullptr && value->is_object() ? value->get_object().if_contains(key) : nullptr;
}

const boost::json::string* text_member(const Json* value, std::string_view key) {
  const Json* found = member(value, key);
  return found == nullptr ? nullptr : found->if_string();
}

/// A token count, or 0 if it is implausible: counts are summed over days.
std::int64_t token_count(const Json* usage, std::string_view key) {
  const Json* found = member(usage, key);
  if (found == nullptr || !found->is_int64()) return 0;
  const std::int64_t count = found->get_int64();
  return count >= 0 && count <= kTokensMax ? count : 0;
}

}  // namespace

std::string render_chat_request(const ChatRequest& request, std::string_view model) {
  JsonArray messages;
  for (const ChatMessage& message : request.messages) {
    messages.push_back(JsonObject{{"role", role_name(message.role)}, {"content", message.content}});
  }
  return to_text(JsonObject{{"model", model},
                            {"messages", std::move(messages)},
                            {"temperature", request.temperature},
                            {"max_tokens", request.max_tokens},
                            {"stream", true},
                            {"stream_options", JsonObject{{"include_usage", true}}}});
}

Error upstream_error(int status) {
  if (status == 401 || status == 403) {
    return {ErrorCode::kUnavailable, "the language model rejected our key: check LLM_API_KEY", {}};
  }
  if (status == 404)
    return {
        ErrorCode::kUnavailable,
        "the language model server does not know the model or path: check LLM_MODEL and LLM_BASE_URL (with its version path, such as /v1)",
        {}};
  if (status == 429) return {ErrorCode::kResourceExhausted, "the language model's rate limit is reached; try again in a moment", {}};
  if (status >= 500) return {ErrorCode::kUnavailable, "the language model failed; try again in a moment", {}};
  return {ErrorCode::kUnavailable, fmt::format("the language model rejected the request (status {})", status), {}};
}

Result<void> ChatStreamReader::feed(std::string_view bytes) {
  FOOTNOTE_TRY(const auto events, parser_.feed(bytes));
  for (const http::SseEvent& event : events) FOOTNOTE_CHECK(take(event.data));
  return {};
}

Result<void> ChatStreamReader::take(std::string_view data) {
  if (data == "[DONE]") {
    ended_ = true;
    return {};
  }
  const auto chunk = parse_json(data);
  if (!chunk) return fail(ErrorCode::kUnavailable, "the language model sent a chunk that is not JSON");
  if (member(&*chunk, "error") != nullptr) return fail(ErrorCode::kUnavailable, "the language model failed in the middle of its answer");
  if (const auto* model = text_member(&*chunk, "model")) end_.model = *model;
  if (const Json* usage = member(&*chunk, "usage"); usage != nullptr && usage->is_object()) {
    end_.tokens = TokenCounts{token_count(usage, "prompt_tokens"), token_count(usage, "completion_tokens")};
  }
  const Json* choices = member(&*chunk, "choices");
  if (choices == nullptr || !choices->is_array() || choices->get_array().empty()) return {};
  const Json* choice = &choices->get_array().front();
  if (const auto* reason = text_member(choice, "finish_reason")) {
    end_.finish = parse_finish_reason(*reason);
    ended_ = true;
  }
  const auto* content = text_member(member(choice, "delta"), "content");
  return content == nullptr || content->empty() ? Result<void>{} : on_text_(*content);
}

Result<ChatEnd> ChatStreamReader::finish() const {
  if (!ended_) return fail(ErrorCode::kUnavailable, "the language model broke off in the middle of its answer");
  return end_;
}

}  // namespace footnote
