#include "answer/visitor_history.h"

#include <algorithm>

#include "base/json.h"
#include "base/text.h"
#include "base/utf8.h"

namespace footnote::answer {

namespace {

std::string key_of(const ConversationId& conversation) { return "conv:" + conversation.value + ":history"; }
std::string tag_of(const VisitorId& visitor) { return "visitor:" + visitor.value; }

std::string to_bytes(const std::vector<ChatMessage>& messages) {
  JsonArray out;
  for (const ChatMessage& message : messages) {
    out.push_back(JsonArray{message.role == ChatRole::kUser ? "user" : "assistant", message.content});
  }
  return to_text(out);
}

std::vector<ChatMessage> from_bytes(std::string_view bytes) {
  const auto parsed = parse_json(bytes);
  std::vector<ChatMessage> out;
  if (!parsed || !parsed->is_array()) return out;
  for (const Json& entry : parsed->as_array()) {
    const JsonArray* pair = entry.if_array();
    if (pair == nullptr || pair->size() != 2 || !(*pair)[0].is_string() || !(*pair)[1].is_string()) return {};
    out.push_back({(*pair)[0].as_string() == "user" ? ChatRole::kUser : ChatRole::kAssistant, std::string((*pair)[1].as_string())});
  }
  return out;
}

std::string bounded(std::string_view text) { return std::string(utf8_prefix(text, kHistoryMessageBytesMax)); }

std::string_view text_of(const Outcome& outcome) {
  return std::visit([](const auto& each) -> std::string_view { return each.text; }, outcome);
}

}  // namespace

void append_turn(std::vector<ChatMessage>& messages, std::string_view question, std::string_view answer) {
  messages.push_back({ChatRole::kUser, bounded(question)});
  messages.push_back({ChatRole::kAssistant, bounded(without_markers(answer))});
  if (messages.size() > kHistoryMessagesMax) messages.erase(messages.begin(), messages.end() - kHistoryMessagesMax);
}

std::string without_markers(std::string_view answer) {
  std::string out;
  for (std::size_t at = 0; at < answer.size();) {
    if (answer[at] == '[') {
      const std::size_t end = answer.find_first_not_of("0123456789, ", at + 1);
      const bool is_marker = end != std::string_view::npos && answer[end] == ']' && end > at + 1;
      if (is_marker) {
        if (!out.empty() && out.back() == ' ') out.pop_back();
        at = end + 1;
        continue;
      }
    }
    out.push_back(answer[at++]);
  }
  return out;
}

std::vector<ChatMessage> VisitorHistory::read(const CallContext& call, const ConversationStore& store, WorkspaceId workspace) const {
  if (!conversation_) return {};
  if (const auto bytes = cache_ == nullptr ? std::nullopt : cache_->get(call, key_of(conversation_))) return from_bytes(*bytes);
  std::vector<ChatMessage> out;
  const auto turns = store.history(call, workspace, conversation_, kHistoryMessagesMax / 2);
  if (!turns && turns.error().code != ErrorCode::kNotFound) return out;  // a read error is not cached as an empty history
  if (turns) {
    for (const Turn& turn : *turns) append_turn(out, turn.question, text_of(turn.outcome));
  }
  put(call, out);
  return out;
}

void VisitorHistory::add(const CallContext& call, std::string_view question, std::string_view answer) const {
  if (cache_ == nullptr || !conversation_) return;
  const auto bytes = cache_->get(call, key_of(conversation_));
  if (!bytes) return;
  std::vector<ChatMessage> messages = from_bytes(*bytes);
  append_turn(messages, question, answer);
  put(call, messages);
}

void VisitorHistory::put(const CallContext& call, const std::vector<ChatMessage>& messages) const {
  if (cache_ != nullptr) cache_->put(call, key_of(conversation_), tag_of(visitor_), to_bytes(messages), kHistoryTime);
}

void forget_visitor(const CallContext& call, Cache& cache, const VisitorId& visitor) { cache.drop_tag(call, tag_of(visitor)); }

}  // namespace footnote::answer
