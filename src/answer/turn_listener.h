#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "domain/answer.h"
#include "domain/ids.h"

namespace footnote::answer {

/// What the citation check said of a sentence that was shown.
struct SentenceCheck {
  TextRange answer_range;
  std::vector<int> numbers;  ///< Of the sources that it cites; none: it states something without a source.
  Support support = Support::kUnchecked;
};

/// What a turn is doing before its first text.
enum class Progress { kSearching, kThinking };
/// "searching", "thinking"
std::string_view to_string(Progress progress);

/// Hears a turn while it happens, on the thread that called `answer`, in this order: on_start once, then
/// on_sources once and on_text any number of times for an answer; a refusal has neither, but one to a site's visitor is told as text.
/// on_progress says what is done until then, where the front door tells it. on_check may follow the text of its
/// sentence at any distance. An error that a method returns (the client went away) ends the turn. The texts of on_text joined are
/// the answer's text.
class TurnListener {
 public:
  virtual ~TurnListener() = default;
  virtual Result<void> on_start(const TurnId& turn) = 0;
  virtual Result<void> on_progress(Progress) { return {}; }
  virtual Result<void> on_sources(std::span<const SourceBlock> sources) = 0;
  virtual Result<void> on_text(std::string_view text) = 0;
  virtual Result<void> on_check(const SentenceCheck&) { return {}; }
};

}  // namespace footnote::answer
