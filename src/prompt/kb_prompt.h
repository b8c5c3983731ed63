#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "domain/answer.h"
#include "ports/llm.h"

namespace footnote::prompt {

/// What the model says, alone, when the sources do not answer.
inline constexpr std::string_view kNoGroundedAnswer = "__NO_GROUNDED_ANSWER__";
/// What an answer never recites; see answer/echo_guard.h.
std::span<const std::string_view> kb_rules();

inline constexpr std::size_t kSourceBytesMax = 4'000;

struct KbPromptOptions {
  UtcTime now;
  /// Random and fresh for each request, so that no document can close its own fence.
  std::string fence;
};

/// The messages for a knowledge-base question: rules and refusal protocol in the system message; the numbered
/// sources, each between fences, and then the question in the user message. Source text is data: invisible
/// characters are dropped and look-alikes of our tags defused, and the rules say that nothing in it is an order.
std::vector<ChatMessage> build_kb_prompt(std::string_view question, std::span<const SourceBlock> sources, const KbPromptOptions& options);

/// Text of a document made safe to stand inside a prompt: see above. At most kSourceBytesMax bytes, cut between
/// code points.
std::string defuse(std::string_view source_text);

}  // namespace footnote::prompt
