#include "api/chunk_sink.h"

#include "api/error_mapping.h"

namespace footnote::api {

namespace {

const JsonObject* object_at(const JsonObject& object, std::string_view key) {
  const Json* value = object.if_contains(key);
  return value == nullptr ? nullptr : value->if_object();
}

/// The choice with index 0.
const JsonObject* first_choice(const JsonObject& chunk) {
  const Json* choices = chunk.if_contains("choices");
  if (choices == nullptr || !choices->is_array()) return nullptr;
  for (const Json& choice : choices->get_array()) {
    const JsonObject* object = choice.if_object();
    if (object == nullptr) continue;
    const Json* index = object->if_contains("index");
    if (index == nullptr || *index == 0) return object;
  }
  return nullptr;
}

std::string text_at(const JsonObject& object, std::string_view key) {
  const Json* value = object.if_contains(key);
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
}

}  // namespace

http::Response plain_error(int status, const JsonObject& error, const http::Headers& headers) {
  http::Response out = http::Response::json(status, error);
  for (const auto& [name, value] : headers) {
    if (!out.headers.contains(name)) out.headers.add(name, value);
  }
  return with_openai_headers(std::move(out));
}

void send_error(ChunkSink& sink, const Error& error) { sink.fail_with(openai_status(error), openai_error(error)); }

http::SseWriter& ChunkEvents::writer() {
  if (writer_ == nullptr) {
    headers_.remove("content-type");
    writer_ = &response_.start_sse(std::move(headers_));
  }
  return *writer_;
}

Result<void> ChunkEvents::take(const JsonObject& chunk) { return writer().send(to_text(chunk)); }

Result<void> ChunkEvents::finish() { return writer().send("[DONE]"); }

void ChunkEvents::fail_with(int status, const JsonObject& error) {
  if (writer_ == nullptr) return response_.reply(plain_error(status, error, headers_));
  // A failed send means that the client disconnected; ignore it.
  (void)writer_->send(to_text(error));
}

void CollectedAnswer::take(const JsonObject& chunk) {
  if (head.id.empty()) {
    head.id = text_at(chunk, "id");
    head.model = text_at(chunk, "model");
    const Json* created = chunk.if_contains("created");
    if (created != nullptr && created->is_int64()) head.created = created->get_int64();
  }
  if (const JsonObject* reported = object_at(chunk, "usage")) usage = *reported;
  if (const JsonObject* own = object_at(chunk, "footnote")) footnote = *own;
  const JsonObject* choice = first_choice(chunk);
  if (choice == nullptr) return;
  if (const std::string reason = text_at(*choice, "finish_reason"); !reason.empty()) finish_reason = reason;
  const JsonObject* delta = object_at(*choice, "delta");
  if (delta == nullptr) return;
  text += text_at(*delta, "content");
  const Json* noted = delta->if_contains("annotations");
  if (noted != nullptr && noted->is_array()) {
    for (const Json& annotation : noted->get_array()) annotations.push_back(annotation);
  }
}

Result<void> WholeCompletion::take(const JsonObject& chunk) {
  answer_.take(chunk);
  return {};
}

Result<void> WholeCompletion::finish() {
  JsonObject message{{"role", "assistant"}, {"content", answer_.text}, {"refusal", nullptr}};
  if (!answer_.annotations.empty()) message["annotations"] = answer_.annotations;
  JsonObject completion{
      {"id", answer_.head.id},
      {"object", "chat.completion"},
      {"created", answer_.head.created},
      {"model", answer_.head.model},
      {"choices", JsonArray{JsonObject{{"index", 0},
                                       {"message", std::move(message)},
                                       {"logprobs", nullptr},
                                       {"finish_reason", answer_.finish_reason.empty() ? "stop" : answer_.finish_reason}}}}};
  if (answer_.usage.is_object()) completion["usage"] = answer_.usage;
  if (answer_.footnote.is_object()) completion["footnote"] = answer_.footnote;
  http::Response response = http::Response::json(200, completion);
  for (const auto& [name, value] : headers_) {
    if (!response.headers.contains(name)) response.headers.add(name, value);
  }
  response_.reply(std::move(response));
  return {};
}

void WholeCompletion::fail_with(int status, const JsonObject& error) { response_.reply(plain_error(status, error, headers_)); }

}  // namespace footnote::api
