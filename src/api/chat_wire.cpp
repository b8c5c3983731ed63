#include "api/chat_wire.h"

#include <algorithm>
#include <chrono>

#include "base/ids.h"
#include "base/text.h"
#include "base/utf8.h"

namespace footnote::api {

namespace {

/// The finish_reason of an answer that recited its prompt, or repeated itself.
constexpr std::string_view kRecited = "content_filter";

std::string_view view_of(const Json* value) {
  if (value == nullptr || !value->is_string()) return {};
  const auto& text = value->get_string();
  return {text.data(), text.size()};
}

std::string_view text_at(const JsonObject& object, std::string_view key) { return view_of(object.if_contains(key)); }

bool has_role(const Json& message, std::string_view role) { return message.is_object() && text_at(message.get_object(), "role") == role; }

bool is_text_part(const Json& part) {
  return part.is_object() && (text_at(part.get_object(), "type") == "text" || text_at(part.get_object(), "type") == "input_text") &&
         part.get_object().contains("text");
}

/// A message's content, or the texts of its parts joined by line feeds.
std::string text_of(const Json& message) {
  const Json* content = message.get_object().if_contains("content");
  if (content == nullptr || !content->is_array()) return std::string(view_of(content));
  std::string out;
  for (const Json& part : content->get_array()) {
    if (!is_text_part(part)) continue;
    if (!out.empty()) out += '\n';
    out += text_at(part.get_object(), "text");
  }
  return out;
}

/// The index of the last user message that has text; messages.size() if there is none.
std::size_t last_question(const JsonArray& messages) {
  for (std::size_t i = messages.size(); i-- > 0;) {
    if (has_role(messages[i], "user") && !trim(text_of(messages[i])).empty()) return i;
  }
  return messages.size();
}

bool is_system(const Json& message) { return has_role(message, "system") || has_role(message, "developer"); }

/// The message with its text replaced; other parts are kept.
Json with_text(const Json& message, std::string_view text) {
  JsonObject out = message.get_object();
  Json& content = out["content"];
  if (!content.is_array()) {
    content = text;
    return out;
  }
  JsonArray parts{JsonObject{{"type", "text"}, {"text", text}}};
  for (const Json& part : content.get_array()) {
    if (!is_text_part(part)) parts.push_back(part);
  }
  content = std::move(parts);
  return out;
}

/// The index where the forwarded history begins: at a user message, so that no answer loses its question and no tool result its call.
std::size_t history_start(const JsonArray& messages, std::size_t question_at, std::size_t bytes_max) {
  std::size_t start = question_at;
  std::size_t bytes = 0;
  for (std::size_t i = question_at; i-- > 0;) {
    if (is_system(messages[i])) continue;
    bytes += to_text(messages[i]).size();
    if (bytes > bytes_max) break;
    if (has_role(messages[i], "user")) start = i;
  }
  return start;
}

std::string system_text(const JsonArray& messages, std::string_view own) {
  std::string out(own);
  for (const Json& message : messages) {
    if (!is_system(message)) continue;
    const std::string text = text_of(message);
    if (!text.empty()) out += "\n\n" + text;
  }
  return out;
}

std::int64_t now_seconds() {
  return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace

Result<ChatAsk> parse_chat_ask(std::string_view body) {
  FOOTNOTE_TRY(Json value, parse_request_json(body));
  FOOTNOTE_TRY(const JsonReader reader, JsonReader::of(value));
  ChatAsk out;
  FOOTNOTE_TRY(out.model, reader.required_string("model", kModelNameBytesMax));
  const Json* stream = value.get_object().if_contains("stream");
  out.stream = stream != nullptr && stream->is_bool() && stream->get_bool();
  const Json* options = value.get_object().if_contains("stream_options");
  const Json* usage = options == nullptr || !options->is_object() ? nullptr : options->get_object().if_contains("include_usage");
  out.include_usage = usage != nullptr && usage->is_bool() && usage->get_bool();
  out.body = std::move(value.get_object());
  return out;
}

Result<void> check_stream(const JsonObject& body) {
  const Json* stream = body.if_contains("stream");
  if (stream == nullptr || stream->is_bool() || stream->is_null()) return {};
  return fail_field(ErrorCode::kInvalidArgument, "stream", "'stream' must be true or false");
}

Result<std::string> question_of(const JsonObject& body) {
  const Json* messages = body.if_contains("messages");
  if (messages == nullptr || !messages->is_array() || messages->get_array().empty()) {
    return fail_field(ErrorCode::kInvalidArgument, "messages", "messages are required");
  }
  const JsonArray& all = messages->get_array();
  if (all.size() > kChatMessagesMax)
    return fail_field(ErrorCode::kTooLarge, "messages", "there are more than {} messages", kChatMessagesMax);
  for (const Json& message : all) {
    if (!message.is_object()) return fail_field(ErrorCode::kInvalidArgument, "messages", "each message must be an object");
  }
  const std::size_t at = last_question(all);
  if (at == all.size()) return fail_field(ErrorCode::kInvalidArgument, "messages", "a message of role user with text is required");
  return text_of(all[at]);
}

JsonArray grounded_messages(const JsonObject& body, const proxy::GroundedPrompt& prompt) {
  const JsonArray& messages = body.at("messages").get_array();
  const std::size_t at = last_question(messages);
  if (prompt.without_client_texts) {
    return {JsonObject{{"role", "system"}, {"content", prompt.system}}, JsonObject{{"role", "user"}, {"content", prompt.message}}};
  }
  JsonArray out{JsonObject{{"role", "system"}, {"content", system_text(messages, prompt.system)}}};
  for (std::size_t i = history_start(messages, at, prompt.history_bytes_max); i < messages.size(); ++i) {
    if (i == at) {
      out.push_back(with_text(messages[i], prompt.message));
    } else if (!is_system(messages[i])) {
      out.push_back(messages[i]);
    }
  }
  return out;
}

JsonArray render_annotations(const std::vector<answer::MarkerScan::Mark>& marks, std::span<const proxy::Source> sources) {
  JsonArray out;
  for (const answer::MarkerScan::Mark& mark : marks) {
    const proxy::Source& source = sources[mark.source - 1];
    out.push_back(JsonObject{{"type", "url_citation"},
                             {"url_citation", JsonObject{{"start_index", mark.begin},
                                                         {"end_index", mark.end},
                                                         {"url", source.url},
                                                         {"title", source.title.empty() ? source.url : source.title}}}});
  }
  return out;
}

namespace {

/// Where a text that repeats itself is cut: as if it had come in pieces of this size. Its size if it does not.
std::size_t loop_begin(std::string_view text) {
  constexpr std::size_t kPieceBytes = 16;
  answer::LoopGuard loop;
  for (std::size_t at = 0; at < text.size(); at += kPieceBytes) {
    if (loop.take(text.substr(at, kPieceBytes))) return utf8_prefix(text, at).size();
  }
  return text.size();
}

}  // namespace

void restore_completion(JsonObject& completion, std::string_view model, std::span<const proxy::Source> sources, std::string_view unspoken) {
  completion["model"] = model;
  Json* choices = completion.if_contains("choices");
  if (choices == nullptr || !choices->is_array()) return;
  for (Json& choice : choices->get_array()) {
    Json* message = choice.is_object() ? choice.get_object().if_contains("message") : nullptr;
    if (message == nullptr || !message->is_object()) continue;
    answer::EchoGuard guard(std::span(&unspoken, 1));
    const std::string_view content = text_at(message->get_object(), "content");
    const std::string_view said = content.substr(0, loop_begin(content));
    std::string text = guard.take(said);
    text += guard.finish();
    const bool is_cut = guard.recited() || said.size() < content.size();
    if (is_cut) message->get_object()["content"] = text;
    answer::MarkerScan scan(sources.size());
    scan.feed(text);
    if (!scan.marks().empty()) {
      Json& annotations = message->get_object()["annotations"];
      if (!annotations.is_array()) annotations = JsonArray{};
      for (Json& annotation : render_annotations(scan.marks(), sources)) annotations.get_array().push_back(std::move(annotation));
    }
    if (is_cut) choice.get_object()["finish_reason"] = kRecited;  // last, because a new key moves `message`
  }
}

ChunkHead fresh_chunk_head(std::string_view model) { return {"chatcmpl-" + random_base62(24), now_seconds(), std::string(model)}; }

JsonObject render_chunk(const ChunkHead& head, JsonObject delta, const Json& finish_reason) {
  return {{"id", head.id},
          {"object", "chat.completion.chunk"},
          {"created", head.created},
          {"model", head.model},
          {"choices", JsonArray{JsonObject{{"index", 0}, {"delta", std::move(delta)}, {"finish_reason", finish_reason}}}}};
}

void ChunkRestorer::take_choice(JsonObject& choice, const JsonObject& chunk, std::vector<JsonObject>& out) {
  const Json* given = choice.if_contains("index");
  const std::int64_t index = given != nullptr && given->is_int64() ? given->get_int64() : 0;
  const std::string_view unspoken = unspoken_;
  if (!choices_.contains(index) && choices_.size() == kChoicesMax) return;
  auto& [scan, guard, loop, is_cut] =
      choices_.try_emplace(index, Choice{answer::MarkerScan(sources_.size()), answer::EchoGuard(std::span(&unspoken, 1))}).first->second;
  if (is_cut) {
    choice["delta"] = JsonObject{};
    choice["finish_reason"] = nullptr;
    return;
  }
  Json* delta = choice.if_contains("delta");
  const bool has_text = delta != nullptr && delta->is_object() && delta->get_object().contains("content");
  const std::string piece(has_text ? text_at(delta->get_object(), "content") : std::string_view());
  is_cut = loop.take(piece);
  cut_ = cut_ || is_cut;
  if (is_cut) choice["finish_reason"] = kRecited;
  Json* finish = choice.if_contains("finish_reason");
  delta = choice.if_contains("delta");
  const bool ends = finish != nullptr && !finish->is_null();
  std::string text = guard.take(is_cut ? std::string_view() : piece);
  if (ends) text += guard.finish();
  // Leave a null or missing text unchanged, unless there is held-back text to send.
  const bool is_text = has_text && delta->get_object().at("content").is_string();
  if (delta != nullptr && delta->is_object() && (is_text || !text.empty())) delta->get_object()["content"] = text;
  if (ends && guard.recited()) *finish = kRecited;
  scan.feed(text);
  if (!ends) return;
  finished_ = true;
  if (scan.marks().empty()) return;
  JsonObject before = chunk;
  before.erase("usage");
  before["choices"] = JsonArray{JsonObject{
      {"index", index}, {"delta", JsonObject{{"annotations", render_annotations(scan.marks(), sources_)}}}, {"finish_reason", nullptr}}};
  out.push_back(std::move(before));
}

std::vector<JsonObject> ChunkRestorer::restore(JsonObject chunk) {
  std::vector<JsonObject> out;
  if (chunk.contains("model")) chunk["model"] = model_;
  Json* choices = chunk.if_contains("choices");
  if (choices != nullptr && choices->is_array()) {
    for (Json& choice : choices->get_array()) {
      if (choice.is_object()) take_choice(choice.get_object(), chunk, out);
    }
  }
  out.push_back(std::move(chunk));
  return out;
}

bool says_no_such_model(int status, std::string_view body) {
  if (status == 404) return true;
  if (status != 400) return false;
  const std::string text = to_lower_ascii(body);
  return text.find("model_not_found") != std::string::npos || text.find("invalid model name") != std::string::npos ||
         (text.find("model") != std::string::npos &&
          (text.find("not found") != std::string::npos || text.find("does not exist") != std::string::npos));
}

bool is_openai_error(std::string_view body) {
  const auto value = parse_json(body);
  if (!value || !value->is_object()) return false;
  const Json* error = value->get_object().if_contains("error");
  return error != nullptr && error->is_object() && error->get_object().contains("message");
}

}  // namespace footnote::api
