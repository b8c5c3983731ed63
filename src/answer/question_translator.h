#pragma once

#include <chrono>
#include <deque>
#include <map>
#include <string>
#include <string_view>

#include "base/call_context.h"
#include "base/mutex.h"
#include "ports/llm.h"

namespace footnote::answer {

/// Translates questions with a language model, so that documents in another language can be searched. Remembers the last kRememberedMax
/// translations. Thread-safe; borrows the model. kUnavailable: the model gave no usable text. Other errors: those of the model.
class QuestionTranslator {
 public:
  static constexpr std::size_t kRememberedMax = 1'000;
  /// A longer output is rejected: it is not a translation of one question.
  static constexpr std::size_t kTranslationBytesMax = 4'000;
  static constexpr std::chrono::seconds kTimeout{10};

  explicit QuestionTranslator(Llm& llm) : llm_(llm) {}

  /// `language`: ISO 639-1.
  Result<std::string> translate(const CallContext& call, std::string_view question, std::string_view language);

 private:
  Llm& llm_;
  Mutex mutex_;
  std::map<std::string, std::string, std::less<>> known_ FOOTNOTE_TSA(guarded_by(mutex_));
  std::deque<std::string> oldest_ FOOTNOTE_TSA(guarded_by(mutex_));
};

}  // namespace footnote::answer
