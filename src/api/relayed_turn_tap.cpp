#include "api/relayed_turn_tap.h"

#include <algorithm>

namespace footnote::api {

namespace {

std::string_view text_at(const JsonObject& object, std::string_view key) {
  const Json* value = object.if_contains(key);
  if (value == nullptr || !value->is_string()) return {};
  return {value->get_string().data(), value->get_string().size()};
}

const JsonObject* object_at(const JsonObject& object, std::string_view key) {
  const Json* value = object.if_contains(key);
  return value == nullptr ? nullptr : value->if_object();
}

std::int64_t count_at(const JsonObject& object, std::string_view key) {
  const Json* value = object.if_contains(key);
  return value != nullptr && value->is_int64() ? std::max<std::int64_t>(value->get_int64(), 0) : 0;
}

bool is_first(const JsonObject& choice) {
  const Json* index = choice.if_contains("index");
  return index == nullptr || *index == 0;
}

}  // namespace

void RelayedTurnTap::on_request(const JsonObject& body, std::size_t bytes) {
  if (turn_ == nullptr) return;
  const Json* messages = body.if_contains("messages");
  turn_->on_prompt(messages != nullptr && messages->is_array() ? messages->get_array().size() : 0, bytes);
}

void RelayedTurnTap::take(const JsonObject& completion) {
  if (turn_ == nullptr) return;
  if (end_.model.empty()) end_.model = text_at(completion, "model");
  if (const JsonObject* usage = object_at(completion, "usage")) {
    end_.tokens = TokenCounts{count_at(*usage, "prompt_tokens"), count_at(*usage, "completion_tokens")};
  }
  const Json* choices = completion.if_contains("choices");
  if (choices == nullptr || !choices->is_array()) return;
  for (const Json& choice : choices->get_array()) {
    if (choice.is_object() && is_first(choice.get_object())) return take_choice(choice.get_object());
  }
}

void RelayedTurnTap::take_choice(const JsonObject& choice) {
  if (const std::string_view reason = text_at(choice, "finish_reason"); !reason.empty()) end_.finish = parse_finish_reason(reason);
  const JsonObject* piece = object_at(choice, "delta");
  if (piece == nullptr) piece = object_at(choice, "message");
  if (piece != nullptr) turn_->on_text(text_at(*piece, "content"));
}

void RelayedTurnTap::sign(JsonObject& completion) const {
  if (turn_ == nullptr || turn_->id().empty()) return;
  completion["footnote"] = JsonObject{{"turn_id", turn_->id()}};
}

void RelayedTurnTap::finish() {
  if (turn_ != nullptr) turn_->finish(std::move(end_));
}

void RelayedTurnTap::fail(const Error& error) {
  if (turn_ != nullptr) turn_->fail(error);
}

}  // namespace footnote::api
