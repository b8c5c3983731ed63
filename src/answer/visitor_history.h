#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "base/call_context.h"
#include "ports/cache.h"
#include "ports/conversation_store.h"
#include "ports/llm.h"

namespace footnote::answer {

/// Bound on the messages kept of a conversation: six turns.
inline constexpr std::size_t kHistoryMessagesMax = 12;
inline constexpr std::chrono::hours kHistoryTime{2};
/// Bound on one message.
inline constexpr std::size_t kHistoryMessageBytesMax = 4'000;

/// The last turns of a visitor's conversation, read from the cache or, on a miss, from the store. Neither can fail a turn: if reading
/// fails, the history is empty. Borrows.
class VisitorHistory {
 public:
  VisitorHistory(Cache* cache, const VisitorId& visitor, const ConversationId& conversation)
      : cache_(cache), visitor_(visitor), conversation_(conversation) {}

  /// Oldest first, alternating questions and answers.
  std::vector<ChatMessage> read(const CallContext& call, const ConversationStore& store, WorkspaceId workspace) const;
  /// Appends a stored turn to the cached history. If none is cached, does nothing: the next read loads it from the store.
  void add(const CallContext& call, std::string_view question, std::string_view answer) const;

 private:
  void put(const CallContext& call, const std::vector<ChatMessage>& messages) const;

  Cache* cache_;
  const VisitorId& visitor_;
  const ConversationId& conversation_;
};

/// Drops the cached history of all of the visitor's conversations.
void forget_visitor(const CallContext& call, Cache& cache, const VisitorId& visitor);

/// Appends a turn, bounded, and drops the oldest turns beyond kHistoryMessagesMax.
void append_turn(std::vector<ChatMessage>& messages, std::string_view question, std::string_view answer);

/// An answer without its [n] markers: the numbers refer to other sources in the next turn.
std::string without_markers(std::string_view answer);

}  // namespace footnote::answer
