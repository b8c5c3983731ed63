#pragma once

#include "ports/chat_store.h"
#include "providers/sqlite/sqlite_store.h"

namespace footnote {

/// Implements ports/chat_store.h (ChatStore) over the embedded database.
class SqliteChatStore final : public ChatStore {
 public:
  explicit SqliteChatStore(SqliteStore& store) : store_(store) {}

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

 private:
  SqliteStore& store_;
};

}  // namespace footnote
