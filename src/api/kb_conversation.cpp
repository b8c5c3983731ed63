#include "api/kb_conversation.h"

#include "answer/visitor_history.h"
#include "base/ids.h"
#include "base/log.h"
#include "base/pii.h"

namespace footnote::api {

namespace {

/// Long enough for a store under load, short enough for somebody who waits.
constexpr std::chrono::seconds kStoreTimeout{10};

/// True for what the caller can mend. Other errors are the store's, and must not cost the user an answer.
bool is_callers(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidArgument:
    case ErrorCode::kNotFound:
    case ErrorCode::kAlreadyExists:
    case ErrorCode::kFailedPrecondition:
    case ErrorCode::kPermissionDenied:
    case ErrorCode::kUnauthenticated:
    case ErrorCode::kTooLarge:
    case ErrorCode::kUnsupported:
    case ErrorCode::kCancelled: return true;
    case ErrorCode::kResourceExhausted:
    case ErrorCode::kStorageFull:
    case ErrorCode::kUnavailable:
    case ErrorCode::kDeadlineExceeded:
    case ErrorCode::kCorrupted:
    case ErrorCode::kInternal: return false;
  }
  return false;
}

std::unexpected<Error> no_such_message(std::string_view field, std::string_view id) {
  return fail_field(ErrorCode::kInvalidArgument, field, "the conversation has no such message '{}'", id);
}

}  // namespace

std::string owner_of(const access::Caller& caller) {
  return caller.principal ? fmt::format("key:{}", caller.principal.value) : std::string();
}

Result<Chat> visible_chat(const ConversationServices& services, const access::Caller& caller, const ConversationId& id,
                          const CallContext& call) {
  FOOTNOTE_TRY(Chat chat, services.chats.chat(call, caller.workspace, id));
  if (chat.owner == owner_of(caller) || caller.may(KeyScope::kAdmin)) return chat;
  return fail(ErrorCode::kNotFound, "there is no conversation '{}'", id.value);
}

Result<Turn> visible_turn(const ConversationServices& services, const access::Caller& caller, const TurnId& id, const CallContext& call) {
  const auto none = [&] { return fail(ErrorCode::kNotFound, "there is no turn '{}'", id.value); };
  FOOTNOTE_TRY(Turn turn, services.conversations.turn(call, caller.workspace, id));
  if (turn.visit) return none();
  if (!turn.conversation) return turn;
  const auto chat = visible_chat(services, caller, turn.conversation, call);
  if (chat) return turn;
  return chat.error().code == ErrorCode::kNotFound ? none() : std::unexpected(chat.error());
}

ConversationId stream_scope(WorkspaceId workspace, const ConversationId& id) { return {fmt::format("{}/{}", workspace.value, id.value)}; }

Result<ConversationTurn> ConversationTurn::begin(const ConversationServices& services, const access::Caller& caller, KbQuestion& asked,
                                                 const CallContext& call) {
  ConversationTurn out(services);
  out.chat_.id = {asked.conversation};
  out.chat_.workspace = caller.workspace;
  const auto placed = [&]() -> Result<void> {
    FOOTNOTE_CHECK(out.find_chat(caller, asked, call));
    return out.place(asked, call);
  }();
  if (placed) return out;
  if (is_callers(placed.error().code) || asked.text.empty()) return std::unexpected(placed.error());
  out.note_failure(call, placed.error());
  out.is_stored_ = false;
  return out;
}

std::string ConversationTurn::kept(std::string_view text) const { return services_->mask_pii ? mask_pii(text) : std::string(text); }

Result<void> ConversationTurn::find_chat(const access::Caller& caller, const KbQuestion& asked, const CallContext& call) {
  for (int attempt = 0; attempt < 2; ++attempt) {
    auto found = visible_chat(*services_, caller, chat_.id, call);
    if (found) {
      chat_ = *std::move(found);
      return {};
    }
    if (found.error().code != ErrorCode::kNotFound || asked.regenerate || !asked.message_id.empty()) return std::unexpected(found.error());
    Chat fresh = chat_;
    fresh.owner = owner_of(caller);
    fresh.title = title_from(kept(asked.text));
    fresh.created_at = fresh.updated_at = services_->clock.now();
    if (asked.names_corpus) fresh.project_keys = asked.corpus_names;
    const auto created = services_->chats.create_chat(call, fresh);
    if (created) {
      chat_ = std::move(fresh);
      return {};
    }
    // Another request of the same conversation may have come first; else the id is taken.
    if (created.error().code != ErrorCode::kAlreadyExists) return std::unexpected(created.error());
  }
  return fail(ErrorCode::kNotFound, "there is no conversation '{}'", chat_.id.value);
}

Result<void> ConversationTurn::place(KbQuestion& asked, const CallContext& call) {
  if (asked.regenerate) {
    FOOTNOTE_TRY(const std::string parent, place_again(asked, call));
    return read_history(parent, call);
  }
  FOOTNOTE_TRY(const std::string parent, parent_of_new(asked, call));
  FOOTNOTE_CHECK(read_history(parent, call));
  return add_user_message(asked, parent, call);
}

/// Returns the parent of the question that is asked again.
Result<std::string> ConversationTurn::place_again(KbQuestion& asked, const CallContext& call) {
  const std::string& wanted = asked.message_id.empty() ? chat_.active_leaf : asked.message_id;
  auto found = services_->chats.message(call, chat_.workspace, chat_.id, wanted);
  if (found && found->role == MessageRole::kAssistant) {
    const std::string question = found->parent;
    found = services_->chats.message(call, chat_.workspace, chat_.id, question);
  }
  if (!found && found.error().code == ErrorCode::kNotFound) return no_such_message("messageId", wanted);
  if (!found) return std::unexpected(found.error());
  user_message_ = found->id;
  asked.text = found->text;
  return found->parent;
}

Result<std::string> ConversationTurn::parent_of_new(const KbQuestion& asked, const CallContext& call) {
  if (!asked.message_id.empty()) {
    const auto replaced = services_->chats.message(call, chat_.workspace, chat_.id, asked.message_id);
    if (!replaced && replaced.error().code != ErrorCode::kNotFound) return std::unexpected(replaced.error());
    if (!replaced || replaced->role != MessageRole::kUser) return no_such_message("messageId", asked.message_id);
    return replaced->parent;
  }
  if (!asked.parent_id) return chat_.active_leaf;
  if (asked.parent_id->empty()) return std::string();
  const auto parent = services_->chats.message(call, chat_.workspace, chat_.id, *asked.parent_id);
  if (parent) return parent->id;
  if (parent.error().code == ErrorCode::kNotFound) return no_such_message("parentId", *asked.parent_id);
  return std::unexpected(parent.error());
}

Result<void> ConversationTurn::add_user_message(const KbQuestion& asked, const std::string& parent, const CallContext& call) {
  ChatNode node{
      .id = asked.sent_id, .parent = parent, .role = MessageRole::kUser, .text = kept(asked.text), .created_at = services_->clock.now()};
  if (!node.id.empty()) {
    const auto added = services_->chats.add_message(call, chat_.workspace, chat_.id, node);
    if (!added && added.error().code != ErrorCode::kAlreadyExists) return added;
    user_message_ = node.id;
    if (added) return {};
  }
  node.id = user_message_ = "msg_" + random_base62(22);
  return services_->chats.add_message(call, chat_.workspace, chat_.id, node);
}

Result<void> ConversationTurn::read_history(const std::string& leaf, const CallContext& call) {
  if (leaf.empty()) return {};
  FOOTNOTE_TRY(const auto path, services_->chats.path(call, chat_.workspace, chat_.id, leaf, answer::kHistoryMessagesMax));
  // A question without an answer, one that failed, is left out.
  for (std::size_t i = 0; i + 1 < path.size(); ++i) {
    if (path[i].role == MessageRole::kUser && path[i + 1].role == MessageRole::kAssistant) {
      answer::append_turn(history_, path[i].text, path[i + 1].text);
    }
  }
  return {};
}

JsonObject ConversationTurn::about() const {
  return {{"conversationId", chat_.id.value}, {"userMessageId", user_message_.empty() ? Json(nullptr) : Json(user_message_)}};
}

void ConversationTurn::finish(const CallContext& call, const TurnId& turn, std::string_view text, const JsonObject& meta) const {
  if (!is_stored_) return;
  const CallContext own = call.detached(kStoreTimeout);
  const auto added = services_->chats.add_message(own, chat_.workspace, chat_.id,
                                                  {.id = turn.value,
                                                   .parent = user_message_,
                                                   .role = MessageRole::kAssistant,
                                                   .text = std::string(text),
                                                   .created_at = services_->clock.now(),
                                                   .turn = turn,
                                                   .meta = to_text(meta)});
  if (!added) note_failure(own, added.error());
}

void ConversationTurn::note_failure(const CallContext& call, const Error& error) const {
  services_->not_stored.add();
  log(LogLevel::kError, "answer", "message of a conversation not stored", call,
      {{"code", to_string(error.code)}, {"error", error.message}});
}

}  // namespace footnote::api
