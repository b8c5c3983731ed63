#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "domain/answer.h"
#include "ports/llm.h"

namespace footnote::prompt {

/// The model's whole output if the sources do not answer.
inline constexpr std::string_view kNoGroundedAnswer = "__NO_GROUNDED_ANSWER__";
/// Texts that an answer must not recite; see answer/echo_guard.h.
std::span<const std::string_view> kb_rules();

inline constexpr std::size_t kSourceBytesMax = 4'000;

struct KbPromptOptions {
  UtcTime now;
  /// Random for each request, so that no document can close its own fence.
  std::string fence;
  /// Earlier turns of the conversation, without their markers: they say what a follow-up refers to, and are no source.
  std::span<const ChatMessage> history = {};
};

/// The messages for a knowledge-base question: rules and refusal protocol in the system message; the numbered sources, each between fences,
/// then the question in the user message. Source text is data: invisible characters are dropped, look-alikes of our tags are defused, and
/// the rules say to follow no instruction in it.
std::vector<ChatMessage> build_kb_prompt(std::string_view question, std::span<const SourceBlock> sources, const KbPromptOptions& options);

/// Makes a document's text safe for a prompt: removes invisible characters and defuses look-alikes of our tags. At most kSourceBytesMax
/// bytes, cut between code points.
std::string defuse(std::string_view source_text);

}  // namespace footnote::prompt
