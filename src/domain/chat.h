#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "domain/conversation.h"
#include "domain/ids.h"

namespace footnote {

/// Limits of one chat. The ids of chats and of users' messages may come from clients.
inline constexpr std::size_t kChatIdBytesMax = 128;
inline constexpr std::size_t kChatTitleCharsMax = 200;
inline constexpr std::size_t kChatMessagesMax = 2'000;
inline constexpr std::size_t kChatProjectsMax = 50;
/// Title made from the first question, in code points.
inline constexpr std::size_t kMadeTitleCharsMax = 80;

/// A user's conversation with a knowledge base: a tree of messages. An edited question is a sibling of the old one, a regenerated answer a
/// sibling of the old answer; `active_leaf` is the end of the branch that is shown.
struct Chat {
  ConversationId id;
  WorkspaceId workspace;
  std::string owner;  ///< Who may see it, besides admins: "key:7"; empty: callers without a key.
  std::string title = {};
  std::vector<std::string> project_keys = {};  ///< Asked unless a question names others.
  UtcTime created_at = {};
  UtcTime updated_at = {};
  std::string active_leaf = {};  ///< A message's id; empty: no messages yet.
  std::int64_t messages = 0;
};

enum class MessageRole { kUser, kAssistant };
/// "user", "assistant"
std::string_view to_string(MessageRole role);

/// A message of a chat's tree. An assistant's message has its turn's id as its own.
struct ChatNode {
  std::string id;
  std::string parent = {};  ///< Empty for a root.
  MessageRole role = MessageRole::kUser;
  std::string text = {};
  UtcTime created_at = {};
  TurnId turn = {};                       ///< Of an assistant's message.
  std::string meta = {};                  ///< JSON text, opaque to the store.
  std::optional<Feedback> feedback = {};  ///< Set when read; ignored when added.
};

/// 1 to kChatIdBytesMax of A-Z a-z 0-9 _ - . :
bool is_chat_id(std::string_view id);

/// The first line of a question, cut after a word at kMadeTitleCharsMax.
std::string title_from(std::string_view question);

/// A question that a person labelled: which documents answer it, or that none does. `footnote eval` reads such cases.
struct EvalCase {
  std::int64_t id = 0;
  WorkspaceId workspace;
  CorpusId corpus;
  TurnId turn;
  std::string question;
  bool answerable = true;
  std::vector<std::string> document_keys = {};
  std::vector<std::string> answers = {};  ///< The answer must contain one of these; empty: not labelled.
  UtcTime created_at = {};
};

}  // namespace footnote
