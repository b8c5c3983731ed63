#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "ports/llm.h"

namespace footnote::prompt {

/// Messages of a conversation that the model sees to rewrite the next one: two turns.
inline constexpr std::size_t kFollowUpHistoryMax = 4;
inline constexpr std::size_t kFollowUpLineBytesMax = 1'000;

/// Asks a model to rewrite a follow-up ("and to Norway?") as a standalone question. The conversation is passed as data, in one message of
/// lines "Visitor: ..." and "Assistant: ...". The model's output is only used for search and never shown.
std::vector<ChatMessage> build_follow_up_prompt(std::span<const ChatMessage> history, std::string_view message);

}  // namespace footnote::prompt
