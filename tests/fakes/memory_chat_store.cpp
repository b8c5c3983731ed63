#include "fakes/memory_chat_store.h"

#include <algorithm>

#include "base/text.h"

namespace footnote::fakes {

namespace {

bool contains(std::string_view text, std::string_view words) {
  return to_lower_ascii(text).find(to_lower_ascii(words)) != std::string::npos;
}

const ChatNode* find_node(const std::vector<ChatNode>& nodes, std::string_view id) {
  const auto found = std::ranges::find(nodes, id, &ChatNode::id);
  return found == nodes.end() ? nullptr : &*found;
}

}  // namespace

Result<const MemoryChatStore::Stored*> MemoryChatStore::stored(const Key& key) const {
  const auto found = chats_.find(key);
  if (found == chats_.end()) return fail(ErrorCode::kNotFound, "no such chat");
  return &found->second;
}

Result<void> MemoryChatStore::create_chat(const CallContext& call, const Chat& chat) {
  FOOTNOTE_CHECK(call.check());
  FOOTNOTE_CHECK(faults_.next());
  const bool has_turns = turns_.history(call, chat.workspace, chat.id, 1).has_value();
  MutexLock lock(mutex_);
  if (has_turns || chats_.contains({chat.workspace, chat.id})) return fail(ErrorCode::kAlreadyExists, "there is such a conversation");
  Stored& made = chats_[{chat.workspace, chat.id}];
  made.chat = chat;
  made.chat.updated_at = chat.created_at;
  made.chat.messages = 0;
  return {};
}

Result<Chat> MemoryChatStore::chat(const CallContext&, WorkspaceId workspace, const ConversationId& id) const {
  FOOTNOTE_CHECK(faults_.next());
  MutexLock lock(mutex_);
  FOOTNOTE_TRY(const Stored* found, stored({workspace, id}));
  return found->chat;
}

Result<ChatPage> MemoryChatStore::chats(const CallContext&, const ChatQuery& query) const {
  MutexLock lock(mutex_);
  std::vector<Chat> all;
  for (const auto& [key, chat] : chats_) {
    const auto holds = [&](const ChatNode& node) { return contains(node.text, query.search); };
    const bool matches = query.search.empty() || contains(chat.chat.title, query.search) || std::ranges::any_of(chat.nodes, holds);
    if (key.first == query.workspace && chat.chat.owner == query.owner && matches) all.push_back(chat.chat);
  }
  std::ranges::sort(all, [](const Chat& a, const Chat& b) { return std::tie(a.updated_at, a.id) > std::tie(b.updated_at, b.id); });
  if (!query.after.empty()) {
    const auto last = std::ranges::find(all, query.after, [](const Chat& chat) { return chat.id.value; });
    if (last == all.end()) return fail_field(ErrorCode::kInvalidArgument, "after", "no such page");
    all.erase(all.begin(), last + 1);
  }
  ChatPage page;
  if (all.size() > query.limit) {
    all.resize(query.limit);
    if (!all.empty()) page.next = all.back().id.value;
  }
  page.chats = std::move(all);
  return page;
}

Result<Chat> MemoryChatStore::change_chat(const CallContext&, WorkspaceId workspace, const ConversationId& id, const ChatChange& change) {
  MutexLock lock(mutex_);
  FOOTNOTE_CHECK(stored({workspace, id}));
  Stored& found = chats_[{workspace, id}];
  if (change.active_leaf && find_node(found.nodes, *change.active_leaf) == nullptr) {
    return fail_field(ErrorCode::kInvalidArgument, "active_leaf", "no such message");
  }
  if (change.active_leaf) found.chat.active_leaf = *change.active_leaf;
  if (change.title) found.chat.title = *change.title;
  return found.chat;
}

Result<void> MemoryChatStore::erase_chat(const CallContext&, WorkspaceId workspace, const ConversationId& id) {
  MutexLock lock(mutex_);
  FOOTNOTE_CHECK(stored({workspace, id}));
  turns_.erase_conversation(workspace, id);
  chats_.erase({workspace, id});
  return {};
}

Result<std::size_t> MemoryChatStore::erase_chats(const CallContext& call, UtcTime before, std::size_t limit) {
  std::vector<Chat> old;
  {
    MutexLock lock(mutex_);
    for (const auto& [key, chat] : chats_) {
      if (chat.chat.updated_at < before) old.push_back(chat.chat);
    }
  }
  std::ranges::sort(old, {}, &Chat::updated_at);
  old.resize(std::min(old.size(), limit));
  for (const Chat& chat : old) FOOTNOTE_CHECK(erase_chat(call, chat.workspace, chat.id));
  return old.size();
}

Result<void> MemoryChatStore::add_message(const CallContext& call, WorkspaceId workspace, const ConversationId& chat,
                                          const ChatNode& message) {
  FOOTNOTE_CHECK(call.check());
  FOOTNOTE_CHECK(faults_.next());
  MutexLock lock(mutex_);
  FOOTNOTE_CHECK(stored({workspace, chat}));
  Stored& found = chats_[{workspace, chat}];
  if (found.nodes.size() >= kChatMessagesMax) return fail(ErrorCode::kFailedPrecondition, "the chat is full");
  if (!message.parent.empty() && find_node(found.nodes, message.parent) == nullptr) {
    return fail_field(ErrorCode::kInvalidArgument, "parent", "no such message");
  }
  if (find_node(found.nodes, message.id) != nullptr) return fail(ErrorCode::kAlreadyExists, "there is such a message");
  found.nodes.push_back(message);
  found.nodes.back().feedback.reset();
  found.chat.active_leaf = message.id;
  found.chat.messages = static_cast<std::int64_t>(found.nodes.size());
  found.chat.updated_at = std::max(found.chat.updated_at, message.created_at);
  return {};
}

Result<std::vector<ChatNode>> MemoryChatStore::messages(const CallContext&, WorkspaceId workspace, const ConversationId& chat) const {
  MutexLock lock(mutex_);
  FOOTNOTE_TRY(const Stored* found, stored({workspace, chat}));
  std::vector<ChatNode> out = found->nodes;
  for (ChatNode& node : out) {
    const auto rating = ratings_.find({workspace, node.turn});
    if (rating != ratings_.end()) node.feedback = rating->second;
  }
  return out;
}

Result<ChatNode> MemoryChatStore::message(const CallContext& call, WorkspaceId workspace, const ConversationId& chat,
                                          std::string_view id) const {
  FOOTNOTE_TRY(auto found, path(call, workspace, chat, id, 1));
  return found.back();
}

Result<std::vector<ChatNode>> MemoryChatStore::path(const CallContext&, WorkspaceId workspace, const ConversationId& chat,
                                                    std::string_view leaf, std::size_t limit) const {
  MutexLock lock(mutex_);
  const auto found = chats_.find({workspace, chat});
  std::vector<ChatNode> out;
  const ChatNode* node = found == chats_.end() ? nullptr : find_node(found->second.nodes, leaf);
  while (node != nullptr && out.size() < limit) {
    out.insert(out.begin(), *node);
    node = find_node(found->second.nodes, node->parent);
  }
  if (out.empty()) return fail(ErrorCode::kNotFound, "no such message");
  return out;
}

Result<void> MemoryChatStore::rate(const CallContext& call, WorkspaceId workspace, const TurnId& turn,
                                   const std::optional<Feedback>& feedback) {
  if (feedback) FOOTNOTE_CHECK(check_feedback(*feedback));
  FOOTNOTE_TRY(const Turn found, turns_.turn(call, workspace, turn));
  if (found.visit) return fail(ErrorCode::kNotFound, "no such turn");
  MutexLock lock(mutex_);
  if (feedback) {
    ratings_[{workspace, turn}] = *feedback;
  } else {
    ratings_.erase({workspace, turn});
  }
  return {};
}

Result<std::int64_t> MemoryChatStore::put_eval_case(const CallContext& call, const EvalCase& made) {
  FOOTNOTE_TRY(const Corpus corpus, turns_.corpus(call, made.corpus));
  if (corpus.workspace != made.workspace) return fail(ErrorCode::kNotFound, "no such corpus");
  MutexLock lock(mutex_);
  const auto same = [&](const EvalCase& other) { return other.workspace == made.workspace && other.turn == made.turn; };
  if (const auto found = std::ranges::find_if(cases_, same); found != cases_.end()) {
    const std::int64_t id = found->id;
    *found = made;
    return found->id = id;
  }
  cases_.push_back(made);
  return cases_.back().id = static_cast<std::int64_t>(cases_.size());
}

Result<std::vector<EvalCase>> MemoryChatStore::eval_cases(const CallContext&, WorkspaceId workspace, std::int64_t after,
                                                          std::size_t limit) const {
  MutexLock lock(mutex_);
  std::vector<EvalCase> out;
  for (const EvalCase& made : cases_) {
    if (made.workspace == workspace && made.id > after && out.size() < limit) out.push_back(made);
  }
  return out;
}

}  // namespace footnote::fakes
