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

/// The last turns of a conversation, oldest first, questions and answers in turn. They come from the cache; where that has none, from the
/// store. Neither can fail a turn: what can't be read is not there.
std::vector<ChatMessage> read_history(const CallContext& call, Cache* cache, const ConversationStore& store, WorkspaceId workspace,
                                      const ConversationId& conversation);

/// Adds a turn to what is remembered. `before` is what read_history gave.
void add_to_history(const CallContext& call, Cache* cache, const ConversationId& conversation, std::vector<ChatMessage> before,
                    std::string_view question, std::string_view answer);

/// Lets go of all that is remembered of it.
void forget_history(const CallContext& call, Cache* cache, const ConversationId& conversation);

/// An answer without its [n]: the numbers mean other sources in the next turn.
std::string without_markers(std::string_view answer);

}  // namespace footnote::answer
