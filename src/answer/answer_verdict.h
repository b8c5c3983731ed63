#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "domain/answer.h"

namespace footnote::answer {

/// Why a language model's text is no answer.
enum class NoAnswer {
  kLoop,         ///< It repeats itself (loop_guard.h).
  kEcho,         ///< It repeats the question or its own rules.
  kEmpty,        ///< It says nothing: white space, "The answer is:".
  kUncited,      ///< It says something, but names no source, and none clearly carries it.
  kUnsupported,  ///< The citation check supports less than half of its sentences.
};
inline constexpr NoAnswer kNoAnswers[] = {NoAnswer::kLoop, NoAnswer::kEcho, NoAnswer::kEmpty, NoAnswer::kUncited, NoAnswer::kUnsupported};
/// Names on the wire: "loop", "echo", "empty", "uncited", "unsupported".
std::string_view to_string(NoAnswer reason);

/// A sentence of a model's answer, as it was shown.
struct SaidSentence {
  TextRange range;
  bool in_code = false;
  bool is_cited = false;  ///< By the model, or bound by the check.
  Support support = Support::kUnchecked;
};

/// A model's text, complete or cut. Borrows.
struct SaidText {
  std::string_view question;
  std::string_view text;
  const std::vector<SaidSentence>& sentences;
  bool is_checked = false;   ///< False: no sentence was compared with its sources; citing them is enough.
  bool is_withheld = false;  ///< Sentences were left out because nothing supports them.
  bool loops = false;
  bool recites = false;  ///< It was cut because it recites its rules.
};

/// What a text is worth.
struct AnswerVerdict {
  std::optional<NoAnswer> no_answer;
  double supported = 0;      ///< Share of its sentences that sources carry; a sentence that could not be checked counts half.
  bool has_doubt = false;    ///< A sentence is shown that its sources do not support, or that has none.
  bool makes_claim = false;  ///< A sentence states something, or has a number: it is more than small talk.
};

/// The one place that decides whether a model's text is an answer. Questions, lead-ins, headings and sentences without a word of their own
/// ("Based on the sources:") say nothing, cited or not.
AnswerVerdict judge_answer(const SaidText& said);

/// At least this share must be supported.
inline constexpr double kSupportedShareMin = 0.5;
/// Bound on the confidence of an answer with a doubtful sentence.
inline constexpr double kDoubtfulConfidenceMax = 0.6;

/// The confidence of what was said: `evidence` is that of what was found.
double said_confidence(const AnswerVerdict& verdict, double evidence);

}  // namespace footnote::answer
