#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "domain/answer.h"
#include "eval/documentation_set.h"
#include "eval/job.h"
#include "eval/run.h"
#include "eval/system.h"
#include "retrieve/gate.h"

namespace footnote::eval {

/// The result of a question. An unanswerable question is either kWrong (it was answered) or kRefused.
enum class Verdict { kRight, kInPart, kWrong, kRefused };
/// "right", "in_part", "wrong", "refused"
std::string_view to_string(Verdict verdict);

/// A wrong answer with at least this confidence counts as "wrong and sure".
inline constexpr double kSureFrom = 0.6;
/// The number of retrieved passages that are searched for the answer.
inline constexpr std::size_t kPassagesLookedAt = 18;
/// How many passages count as "the first" in reports.
inline constexpr std::size_t kFirstPassages = 10;

/// A question and its result.
struct AskedQuestion {
  std::string set;
  DocumentationQuestion question;
  Verdict verdict = Verdict::kRefused;
  double confidence = 0;                         ///< Confidence of the answer; 0 for a refusal.
  std::string text;                              ///< The answer with its citation markers, or the refusal.
  std::vector<std::string> cited = {};           ///< Keys of the cited documents.
  std::optional<std::size_t> passage_rank = {};  ///< Rank (from 1) of the first of kPassagesLookedAt passages that contains the answer.
  retrieve::GateVerdict gate = {};
  double ms = 0;  ///< Time to answer.

  bool answered() const { return verdict != Verdict::kRefused; }
  bool sure_and_wrong() const { return verdict == Verdict::kWrong && confidence >= kSureFrom; }
  /// A cited document is one of the question's pages.
  bool right_page() const;
};

/// Fails only if one of the question's expressions does.
Result<Verdict> verdict_of(const DocumentationQuestion& question, const Outcome& outcome);
Result<std::optional<std::size_t>> rank_of_answer(const DocumentationQuestion& question, std::span<const Hit> hits);

/// Asks every question of a set. REQUIRES: the corpus of `system` contains the set's documents.
Result<std::vector<AskedQuestion>> ask_documentation(const EvalJob& job, const System& system, const DocumentationSet& set);

/// Instead of asking: the passages that a reader would get for each question of a set, best first, one JSON line per question. Same
/// REQUIRES.
Result<std::string> passages_found(const EvalJob& job, const System& system, const DocumentationSet& set);

/// Results over all questions, and per half, set and kind if there are several of them.
std::vector<AnswerGroup> groups_of(std::span<const AskedQuestion> asked);
/// A run with the stages "answerable" and "unanswerable"; each row is a question. A stage without rows is omitted.
EvalRun documentation_run(std::span<const AskedQuestion> asked);
/// One line of the file that --answers writes.
JsonObject asked_json(const AskedQuestion& asked);

}  // namespace footnote::eval
