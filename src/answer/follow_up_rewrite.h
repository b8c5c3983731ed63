#pragma once

#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/call_context.h"
#include "ports/llm.h"

namespace footnote::answer {

/// Code points of what a model may make of a follow-up.
inline constexpr std::size_t kRewrittenCharsMax = 300;

/// Who makes follow-ups searchable beside the words that they are made of (retrieve/follow_up.h).
struct FollowUpModel {
  Llm* llm = nullptr;  ///< Null: nobody, the words do.
  std::chrono::milliseconds timeout{1'500};
};

/// What is searched for in place of a message, and who said so: "" (the message as it is), "words" or "model".
struct SearchText {
  std::string text;
  std::string_view by = {};
  std::optional<Error> error = {};                    ///< Why the model was not heard; then the words were taken.
  std::optional<TokenCounts> tokens = TokenCounts{};  ///< None: the model did not tell.
};

/// A message that stands by itself is searched for as it is; no model is asked. One that leans on the turn before is rewritten by the
/// model, where there is one and it says one line of at most kRewrittenCharsMax in time, otherwise by its words.
SearchText make_search_text(const CallContext& call, const FollowUpModel& model, std::span<const ChatMessage> history,
                            std::string_view message);

}  // namespace footnote::answer
