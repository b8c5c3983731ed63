#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "fakes/faults.h"
#include "fakes/memory_store.h"
#include "ports/chat_store.h"

namespace footnote::fakes {

/// Chats in memory; their turns are in a MemoryStore. Keeps every promise of its port but durability. Thread-safe.
class MemoryChatStore final : public ChatStore {
 public:
  explicit MemoryChatStore(MemoryStore& turns) : turns_(turns) {}

  Result<void> create_chat(const CallContext& call, const Chat& chat) override;
  Result<Chat> chat(const CallContext& call, WorkspaceId workspace, const ConversationId& id) const override;
  Result<ChatPage> chats(const CallContext& call, const ChatQuery& query) const override;
  Result<Chat> change_chat(const CallContext& call, WorkspaceId workspace, const ConversationId& id, const ChatChange& change) override;
  Result<void> erase_chat(const CallContext& call, WorkspaceId workspace, const ConversationId& id) override;
  Result<std::size_t> erase_chats(const CallContext& call, UtcTime before, std::size_t limit) override;
  Result<void> add_message(const CallContext& call, WorkspaceId workspace, const ConversationId& chat, const ChatNode& message) override;
  Result<std::vector<ChatNode>> messages(const CallContext& call, WorkspaceId workspace, const ConversationId& chat) const override;
  Result<ChatNode> message(const CallContext& call, WorkspaceId workspace, const ConversationId& chat, std::string_view id) const override;
  Result<std::vector<ChatNode>> path(const CallContext& call, WorkspaceId workspace, const ConversationId& chat, std::string_view leaf,
                                     std::size_t limit) const override;
  Result<void> rate(const CallContext& call, WorkspaceId workspace, const TurnId& turn, const std::optional<Feedback>& feedback) override;
  Result<std::int64_t> put_eval_case(const CallContext& call, const EvalCase& made) override;
  Result<std::vector<EvalCase>> eval_cases(const CallContext& call, WorkspaceId workspace, std::int64_t after,
                                           std::size_t limit) const override;

  /// Of every call that writes or reads a chat.
  Faults& faults() { return faults_; }

 private:
  struct Stored {
    Chat chat;
    std::vector<ChatNode> nodes = {};
  };
  using Key = std::pair<WorkspaceId, ConversationId>;
  Result<const Stored*> stored(const Key& key) const FOOTNOTE_TSA(requires_capability(mutex_));

  MemoryStore& turns_;
  mutable Faults faults_;
  mutable Mutex mutex_;
  std::map<Key, Stored> chats_ FOOTNOTE_TSA(guarded_by(mutex_));
  std::map<std::pair<WorkspaceId, TurnId>, Feedback> ratings_ FOOTNOTE_TSA(guarded_by(mutex_));
  std::vector<EvalCase> cases_ FOOTNOTE_TSA(guarded_by(mutex_));
};

}  // namespace footnote::fakes
