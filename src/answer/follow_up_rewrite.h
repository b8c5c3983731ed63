#pragma once

#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/call_context.h"
#include "ports/llm.h"

namespace footnote::answer {

/// Bound on a rewritten question, in code points.
inline constexpr std::size_t kRewrittenCharsMax = 300;

/// The optional model that rewrites follow-ups; without it, only the word rules of retrieve/follow_up.h apply.
struct FollowUpModel {
  Llm* llm = nullptr;  ///< Null: word rules only.
  std::chrono::milliseconds timeout{1'500};
};

/// The search text for a message, and its origin: "" (the message unchanged), "words" or "model".
struct SearchText {
  std::string text;
  std::string_view by = {};
  std::optional<Error> error = {};                    ///< Why the model's rewrite was not used; the word rules were used instead.
  std::optional<TokenCounts> tokens = TokenCounts{};  ///< None: the model did not report them.
};

/// A message that stands by itself is searched for unchanged, without a model call. A follow-up is rewritten by the model, if there is one
/// and it returns one line of at most kRewrittenCharsMax in time; otherwise by the word rules.
SearchText make_search_text(const CallContext& call, const FollowUpModel& model, std::span<const ChatMessage> history,
                            std::string_view message);

}  // namespace footnote::answer
