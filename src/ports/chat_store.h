#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/call_context.h"
#include "domain/chat.h"

namespace footnote {

/// Which chats to list: those of one owner, last changed first.
struct ChatQuery {
  WorkspaceId workspace;
  std::string owner;
  std::string search = {};  ///< In the title or a message, ignoring ASCII case; empty: all.
  std::string after = {};   ///< The `next` of the page before.
  std::size_t limit = 50;
};

struct ChatPage {
  std::vector<Chat> chats;
  std::string next = {};  ///< Empty: this is the last page.
};

struct ChatChange {
  std::optional<std::string> title = {};
  std::optional<std::string> active_leaf = {};
};

/// Users' chats, ratings and eval cases. Thread-safe; writes are durable when they return. Everything belongs to one workspace: what
/// another workspace has is kNotFound, as if it did not exist.
class ChatStore {
 public:
  virtual ~ChatStore() = default;
  /// kAlreadyExists: the workspace has a conversation with that id, of whatever door.
  virtual Result<void> create_chat(const CallContext& call, const Chat& chat) = 0;
  virtual Result<Chat> chat(const CallContext& call, WorkspaceId workspace, const ConversationId& id) const = 0;
  /// kInvalidArgument: an `after` that no page returned.
  virtual Result<ChatPage> chats(const CallContext& call, const ChatQuery& query) const = 0;
  /// kInvalidArgument: the chat has no message `active_leaf`.
  virtual Result<Chat> change_chat(const CallContext& call, WorkspaceId workspace, const ConversationId& id, const ChatChange& change) = 0;
  /// Deletes the chat with its messages, turns, traces and ratings. Gaps and daily counts are kept.
  virtual Result<void> erase_chat(const CallContext& call, WorkspaceId workspace, const ConversationId& id) = 0;
  /// Deletes chats that were last changed before `before`, at most `limit`; returns how many.
  virtual Result<std::size_t> erase_chats(const CallContext& call, UtcTime before, std::size_t limit) = 0;

  /// Adds a message, which becomes the active leaf. kNotFound: no such chat. kInvalidArgument: it has no such parent. kAlreadyExists: it
  /// has a message with that id. kFailedPrecondition: it has kChatMessagesMax.
  virtual Result<void> add_message(const CallContext& call, WorkspaceId workspace, const ConversationId& chat, const ChatNode& message) = 0;
  /// All messages of a chat with their ratings, oldest first.
  virtual Result<std::vector<ChatNode>> messages(const CallContext& call, WorkspaceId workspace, const ConversationId& chat) const = 0;
  virtual Result<ChatNode> message(const CallContext& call, WorkspaceId workspace, const ConversationId& chat,
                                   std::string_view id) const = 0;
  /// The last `limit` messages on the way from the root to `leaf`, which is the last of them. kNotFound: no such message.
  virtual Result<std::vector<ChatNode>> path(const CallContext& call, WorkspaceId workspace, const ConversationId& chat,
                                             std::string_view leaf, std::size_t limit) const = 0;

  /// Stores the rating of a turn that is no visitor's; nullopt takes it back. kNotFound: there is no such turn.
  virtual Result<void> rate(const CallContext& call, WorkspaceId workspace, const TurnId& turn,
                            const std::optional<Feedback>& feedback) = 0;

  /// Adds a case, or replaces that of the same turn; returns its id. kNotFound: its corpus is not in its workspace.
  virtual Result<std::int64_t> put_eval_case(const CallContext& call, const EvalCase& made) = 0;
  /// Oldest first, after the id `after`.
  virtual Result<std::vector<EvalCase>> eval_cases(const CallContext& call, WorkspaceId workspace, std::int64_t after,
                                                   std::size_t limit) const = 0;
};

}  // namespace footnote
