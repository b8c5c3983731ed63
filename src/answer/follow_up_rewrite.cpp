#include "answer/follow_up_rewrite.h"

#include "base/text.h"
#include "base/utf8.h"
#include "prompt/follow_up_prompt.h"
#include "retrieve/follow_up.h"

namespace footnote::answer {

namespace {

/// Enough for one line of kRewrittenCharsMax characters in any script.
constexpr int kRewrittenTokensMax = 200;
constexpr std::size_t kRewrittenBytesMax = 4 * kRewrittenCharsMax;

/// The last answer, and the last question that is not itself a follow-up: the topic of a chain such as "and to Sweden?", "and to Norway?".
retrieve::TurnBefore turn_before(std::span<const ChatMessage> history) {
  if (history.size() < 2) return {};
  std::size_t question = history.size() - 2;
  while (question >= 2 &&
         retrieve::leans_on_context(history[question].content, {history[question - 2].content, history[question - 1].content})) {
    question -= 2;
  }
  return {history[question].content, history.back().content};
}

/// Extracts the question from the model's output; an error says why there is none.
Result<std::string> question_in(std::string_view said) {
  const std::string_view line = trim(said);
  if (line.empty()) return fail(ErrorCode::kUnavailable, "the model returned no text");
  if (line.find('\n') != std::string_view::npos) return fail(ErrorCode::kUnavailable, "the model returned more than one line");
  if (count_code_points(line) > kRewrittenCharsMax) {
    return fail(ErrorCode::kUnavailable, "the model returned more than {} characters", kRewrittenCharsMax);
  }
  return std::string(line);
}

Result<std::string> ask(const CallContext& call, const FollowUpModel& model, std::span<const ChatMessage> history, std::string_view message,
                        SearchText& counted) {
  const ChatRequest request{.messages = prompt::build_follow_up_prompt(history, message), .max_tokens = kRewrittenTokensMax};
  std::string said;
  const auto take = [&](std::string_view piece) -> Result<void> {
    said += piece;
    return said.size() > kRewrittenBytesMax ? fail(ErrorCode::kUnavailable, "the model returned too much text") : Result<void>{};
  };
  FOOTNOTE_TRY(const ChatEnd end, model.llm->stream(call.narrowed(model.timeout), request, take));
  counted.tokens = end.tokens;
  return question_in(said);
}

}  // namespace

SearchText make_search_text(const CallContext& call, const FollowUpModel& model, std::span<const ChatMessage> history,
                            std::string_view message) {
  const retrieve::TurnBefore before = turn_before(history);
  if (!retrieve::leans_on_context(message, before)) return {.text = std::string(trim(message))};
  SearchText out{.text = retrieve::search_text(message, before), .by = "words"};
  if (model.llm == nullptr) return out;
  auto question = ask(call, model, history, message, out);
  if (!question) {
    out.error = std::move(question).error();
    return out;
  }
  out.text = *std::move(question);
  out.by = "model";
  return out;
}

}  // namespace footnote::answer
