#include "api/responses_wire.h"

#include "api/error_mapping.h"
#include "base/ids.h"

namespace footnote::api {

namespace {

constexpr std::string_view kRefusedFields[] = {"previous_response_id", "conversation", "tools", "background", "prompt"};
/// Parameters that both APIs share, by their name in each.
constexpr std::pair<std::string_view, std::string_view> kSharedFields[] = {
    {"temperature", "temperature"}, {"top_p", "top_p"}, {"max_output_tokens", "max_tokens"}, {"user", "user"}, {"metadata", "metadata"}};

bool is_given(const JsonObject& object, std::string_view key) {
  const Json* value = object.if_contains(key);
  if (value == nullptr || value->is_null()) return false;
  if (value->is_bool()) return value->get_bool();
  return !value->is_array() || !value->get_array().empty();
}

/// Converts the parts of a message's content to the chat API.
Result<Json> chat_content(const Json& content) {
  if (!content.is_array()) return content;
  JsonArray parts;
  for (const Json& part : content.get_array()) {
    const JsonObject* object = part.if_object();
    const Json* type = object == nullptr ? nullptr : object->if_contains("type");
    if (type == nullptr || !type->is_string()) return fail_field(ErrorCode::kInvalidArgument, "input", "each part must have a type");
    if (*type == "input_text" || *type == "output_text" || *type == "text") {
      const Json* text = object->if_contains("text");
      if (text == nullptr || !text->is_string()) return fail_field(ErrorCode::kInvalidArgument, "input", "a part of text must have text");
      parts.push_back(JsonObject{{"type", "text"}, {"text", *text}});
    } else if (*type == "input_image" && object->contains("image_url")) {
      parts.push_back(JsonObject{{"type", "image_url"}, {"image_url", JsonObject{{"url", object->at("image_url")}}}});
    } else {
      return fail_field(ErrorCode::kUnsupported, "input", "parts of type '{}' can't be forwarded", std::string_view(type->get_string()));
    }
  }
  return parts;
}

Result<JsonArray> chat_messages(const JsonObject& body) {
  JsonArray out;
  const Json* instructions = body.if_contains("instructions");
  if (instructions != nullptr && instructions->is_string()) out.push_back(JsonObject{{"role", "system"}, {"content", *instructions}});
  const Json* input = body.if_contains("input");
  if (input != nullptr && input->is_string()) {
    out.push_back(JsonObject{{"role", "user"}, {"content", *input}});
    return out;
  }
  if (input == nullptr || !input->is_array())
    return fail_field(ErrorCode::kInvalidArgument, "input", "input is required: a text or a list of messages");
  for (const Json& item : input->get_array()) {
    const JsonObject* message = item.if_object();
    const Json* type = message == nullptr ? nullptr : message->if_contains("type");
    const bool is_message = message != nullptr && message->contains("role") && (type == nullptr || *type == "message");
    if (!is_message) return fail_field(ErrorCode::kUnsupported, "input", "input may only contain messages");
    const Json* content = message->if_contains("content");
    FOOTNOTE_TRY(Json translated, chat_content(content == nullptr ? Json("") : *content));
    out.push_back(JsonObject{{"role", message->at("role")}, {"content", std::move(translated)}});
  }
  return out;
}

std::int64_t tokens_of(const Json& usage, std::string_view key) {
  const Json* value = usage.is_object() ? usage.get_object().if_contains(key) : nullptr;
  return value != nullptr && value->is_int64() ? value->get_int64() : 0;
}

JsonObject render_usage(const Json& usage) {
  const std::int64_t input = tokens_of(usage, "prompt_tokens");
  const std::int64_t output = tokens_of(usage, "completion_tokens");
  return {{"input_tokens", input},
          {"input_tokens_details", JsonObject{{"cached_tokens", 0}}},
          {"output_tokens", output},
          {"output_tokens_details", JsonObject{{"reasoning_tokens", 0}}},
          {"total_tokens", input + output}};
}

/// Flattens {"type":"url_citation","url_citation":{...}} for the responses API.
JsonObject flat_annotation(const Json& annotation) {
  JsonObject out{{"type", "url_citation"}};
  const Json* inner = annotation.is_object() ? annotation.get_object().if_contains("url_citation") : nullptr;
  if (inner == nullptr || !inner->is_object()) return annotation.is_object() ? annotation.get_object() : out;
  for (const auto& entry : inner->get_object()) out[entry.key()] = entry.value();
  return out;
}

JsonObject render_part(const CollectedAnswer& answer) {
  JsonArray annotations;
  for (const Json& annotation : answer.annotations) annotations.push_back(flat_annotation(annotation));
  return {{"type", "output_text"}, {"text", answer.text}, {"annotations", std::move(annotations)}, {"logprobs", JsonArray{}}};
}

JsonObject render_item(std::string_view id, const CollectedAnswer& answer, std::string_view status) {
  JsonArray content;
  if (status != "in_progress") content.push_back(render_part(answer));
  return {{"id", id}, {"type", "message"}, {"status", status}, {"role", "assistant"}, {"content", std::move(content)}};
}

JsonObject render_response(const ChunkHead& head, std::string_view status, JsonArray output, const Json& usage,
                           const Json& error = nullptr) {
  return {{"id", head.id},
          {"object", "response"},
          {"created_at", head.created},
          {"status", status},
          {"error", error},
          {"incomplete_details", status == "incomplete" ? Json(JsonObject{{"reason", "max_output_tokens"}}) : Json(nullptr)},
          {"instructions", nullptr},
          {"metadata", JsonObject{}},
          {"model", head.model},
          {"output", std::move(output)},
          {"parallel_tool_calls", true},
          {"previous_response_id", nullptr},
          {"temperature", nullptr},
          {"tool_choice", "auto"},
          {"tools", JsonArray{}},
          {"top_p", nullptr},
          {"usage", usage}};
}

std::string_view status_of(const CollectedAnswer& answer) { return answer.finish_reason == "length" ? "incomplete" : "completed"; }

ChunkHead response_head(std::string_view model) {
  ChunkHead out = fresh_chunk_head(model);
  out.id = "resp_" + random_base62(24);
  return out;
}

}  // namespace

Result<ChatAsk> chat_of_response_ask(const ChatAsk& ask) {
  for (const std::string_view field : kRefusedFields) {
    if (is_given(ask.body, field)) return fail_field(ErrorCode::kUnsupported, field, "'{}' is not supported with {}", field, ask.model);
  }
  ChatAsk out{.model = ask.model, .stream = ask.stream, .include_usage = true, .body = {}};
  out.body["model"] = ask.model;
  FOOTNOTE_TRY(out.body["messages"], chat_messages(ask.body));
  for (const auto& [here, there] : kSharedFields) {
    if (is_given(ask.body, here)) out.body[there] = ask.body.at(here);
  }
  return out;
}

WholeResponse::WholeResponse(http::ResponseStream& response, std::string_view model) : response_(response), head_(response_head(model)) {}

Result<void> WholeResponse::take(const JsonObject& chunk) {
  answer_.take(chunk);
  return {};
}

Result<void> WholeResponse::finish() {
  const JsonArray output{render_item("msg_" + random_base62(24), answer_, status_of(answer_))};
  http::Response response = http::Response::json(200, render_response(head_, status_of(answer_), output, render_usage(answer_.usage)));
  for (const auto& [name, value] : headers_) {
    if (!response.headers.contains(name)) response.headers.add(name, value);
  }
  response_.reply(std::move(response));
  return {};
}

void WholeResponse::fail_with(int status, const JsonObject& error) { response_.reply(plain_error(status, error, headers_)); }

ResponseEvents::ResponseEvents(http::ResponseStream& response, std::string_view model)
    : response_(response), head_(response_head(model)), item_id_("msg_" + random_base62(24)) {}

Result<void> ResponseEvents::send(std::string_view type, JsonObject event) {
  JsonObject out{{"type", type}, {"sequence_number", sequence_++}};
  for (auto& entry : event) out[entry.key()] = std::move(entry.value());
  return writer_->send_event(type, to_text(out));
}

Result<void> ResponseEvents::start() {
  if (writer_ != nullptr) return {};
  headers_.remove("content-type");
  writer_ = &response_.start_sse(std::move(headers_));
  const JsonObject response = render_response(head_, "in_progress", {}, nullptr);
  FOOTNOTE_CHECK(send("response.created", {{"response", response}}));
  FOOTNOTE_CHECK(send("response.in_progress", {{"response", response}}));
  FOOTNOTE_CHECK(send("response.output_item.added", {{"output_index", 0}, {"item", render_item(item_id_, {}, "in_progress")}}));
  return send("response.content_part.added", {{"item_id", item_id_}, {"output_index", 0}, {"content_index", 0}, {"part", render_part({})}});
}

Result<void> ResponseEvents::take(const JsonObject& chunk) {
  FOOTNOTE_CHECK(start());
  const std::size_t text_before = answer_.text.size();
  const std::size_t annotations_before = answer_.annotations.size();
  answer_.take(chunk);
  if (answer_.text.size() > text_before) {
    FOOTNOTE_CHECK(send("response.output_text.delta", {{"item_id", item_id_},
                                                       {"output_index", 0},
                                                       {"content_index", 0},
                                                       {"delta", std::string_view(answer_.text).substr(text_before)},
                                                       {"logprobs", JsonArray{}}}));
  }
  for (std::size_t i = annotations_before; i < answer_.annotations.size(); ++i) {
    FOOTNOTE_CHECK(send("response.output_text.annotation.added", {{"item_id", item_id_},
                                                                  {"output_index", 0},
                                                                  {"content_index", 0},
                                                                  {"annotation_index", i},
                                                                  {"annotation", flat_annotation(answer_.annotations[i])}}));
  }
  return {};
}

Result<void> ResponseEvents::finish() {
  FOOTNOTE_CHECK(start());
  const JsonObject place{{"item_id", item_id_}, {"output_index", 0}, {"content_index", 0}};
  JsonObject text = place;
  text["text"] = answer_.text;
  text["logprobs"] = JsonArray{};
  FOOTNOTE_CHECK(send("response.output_text.done", std::move(text)));
  JsonObject part = place;
  part["part"] = render_part(answer_);
  FOOTNOTE_CHECK(send("response.content_part.done", std::move(part)));
  const JsonObject item = render_item(item_id_, answer_, status_of(answer_));
  FOOTNOTE_CHECK(send("response.output_item.done", {{"output_index", 0}, {"item", item}}));
  const std::string type = fmt::format("response.{}", status_of(answer_));
  return send(type, {{"response", render_response(head_, status_of(answer_), {item}, render_usage(answer_.usage))}});
}

void ResponseEvents::fail_with(int status, const JsonObject& error) {
  if (writer_ == nullptr) return response_.reply(plain_error(status, error, headers_));
  const Json* inner = error.if_contains("error");
  const JsonObject* details = inner == nullptr ? nullptr : inner->if_object();
  const Json* message = details == nullptr ? nullptr : details->if_contains("message");
  const JsonObject failure{{"code", "server_error"}, {"message", message == nullptr ? Json("the model server failed") : *message}};
  // A failed send means that the client disconnected; ignore it.
  (void)send("response.failed", {{"response", render_response(head_, "failed", {}, nullptr, failure)}});
}

}  // namespace footnote::api
