#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "answer/answer_verdict.h"
#include "base/result.h"
#include "domain/answer.h"
#include "domain/ids.h"

namespace footnote::answer {

/// The citation check's verdict on a shown sentence.
struct SentenceCheck {
  TextRange answer_range;
  std::vector<int> numbers;  ///< Numbers of the sources it cites; empty: it makes a claim without a source.
  Support support = Support::kUnchecked;
};

/// A model's text turned out to be no answer.
struct Withdrawal {
  NoAnswer reason = NoAnswer::kUnsupported;
  /// Says so in words, in the reader's language. Front doors whose clients may not know how to remove a text send it behind that text.
  std::string_view notice = {};
};

/// What a turn is doing before its first text.
enum class Progress { kSearching, kThinking };
/// "searching", "thinking"
std::string_view to_string(Progress progress);

/// Receives the events of a turn on the thread that called `answer`, in this order: on_start once; then, for an answer, on_sources once and
/// on_text any number of times. A refusal has neither, except that visitors receive it as text. on_progress reports what happens before the
/// first text, if the front door supports it. on_check may come at any time after its sentence's text. on_withdraw comes at most once,
/// after some text: sources, texts and checks so far are void, and what follows replaces them (on_sources and on_text again, or a refusal).
/// If a method returns an error (the client disconnected), the turn ends. The texts of on_text since on_withdraw, joined, are the answer's
/// text.
class TurnListener {
 public:
  virtual ~TurnListener() = default;
  virtual Result<void> on_start(const TurnId& turn) = 0;
  virtual Result<void> on_progress(Progress) { return {}; }
  virtual Result<void> on_sources(std::span<const SourceBlock> sources) = 0;
  virtual Result<void> on_text(std::string_view text) = 0;
  virtual Result<void> on_check(const SentenceCheck&) { return {}; }
  virtual Result<void> on_withdraw(const Withdrawal& withdrawal) = 0;
};

/// For callers that need only the complete answer.
class SilentListener final : public TurnListener {
 public:
  Result<void> on_start(const TurnId&) override { return {}; }
  Result<void> on_sources(std::span<const SourceBlock>) override { return {}; }
  Result<void> on_text(std::string_view) override { return {}; }
  Result<void> on_withdraw(const Withdrawal&) override { return {}; }
};

}  // namespace footnote::answer
