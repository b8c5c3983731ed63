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

/// Messages of a conversation that are remembered: six turns.
inline constexpr std::size_t kHistoryMessagesMax = 12;
inline constexpr std::chrono::hours kHistoryTime{2};
/// Of one message.
inline constexpr std::size_t kHistoryMessageBytesMax = 4'000;

/// The last turns of a visitor's conversation. They come from the cache; where that has none, from the store. Neither can fail a turn: what
/// can't be read is not there. Borrows.
class VisitorHistory {
 public:
  VisitorHistory(Cache* cache, const VisitorId& visitor, const ConversationId& conversation)
      : cache_(cache), visitor_(visitor), conversation_(conversation) {}

  /// Oldest first, questions and answers in turn.
  std::vector<ChatMessage> read(const CallContext& call, const ConversationStore& store, WorkspaceId workspace) const;
  /// Adds a turn that is stored to what is remembered. Where nothing is, the store tells next time.
  void add(const CallContext& call, std::string_view question, std::string_view answer) const;

 private:
  void put(const CallContext& call, const std::vector<ChatMessage>& messages) const;

  Cache* cache_;
  const VisitorId& visitor_;
  const ConversationId& conversation_;
};

/// Of all conversations of one visitor nothing is remembered any more.
void forget_visitor(const CallContext& call, Cache& cache, const VisitorId& visitor);

/// An answer without its [n]: the numbers mean other sources in the next turn.
std::string without_markers(std::string_view answer);

}  // namespace footnote::answer
