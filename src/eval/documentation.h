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

/// What became of a question. Of one that the documents do not answer only kWrong (it was answered) and kRefused.
enum class Verdict { kRight, kInPart, kWrong, kRefused };
/// "right", "in_part", "wrong", "refused"
std::string_view to_string(Verdict verdict);

/// An answer that is not right is wrong and sure from this confidence on.
inline constexpr double kSureFrom = 0.6;
/// So many retrieved passages are looked at for one that holds the answer: as many as the judge reads.
inline constexpr std::size_t kPassagesLookedAt = 18;
/// A passage "among the first" is one of these.
inline constexpr std::size_t kFirstPassages = 10;

/// A question and how it went.
struct AskedQuestion {
  std::string set;
  DocumentationQuestion question;
  Verdict verdict = Verdict::kRefused;
  double confidence = 0;                         ///< Of the answer; 0 of a refusal.
  std::string text;                              ///< The answer, or the refusal, with its markers.
  std::vector<std::string> cited = {};           ///< Documents.
  std::optional<std::size_t> passage_rank = {};  ///< From 1, of the first passage that holds the answer among kPassagesLookedAt.
  retrieve::GateVerdict gate = {};
  double ms = 0;  ///< That the answer took.

  bool answered() const { return verdict != Verdict::kRefused; }
  bool sure_and_wrong() const { return verdict == Verdict::kWrong && confidence >= kSureFrom; }
  /// A cited document is one of the question's pages.
  bool right_page() const;
};

/// Errors: those of a question's expressions.
Result<Verdict> verdict_of(const DocumentationQuestion& question, const Outcome& outcome);
Result<std::optional<std::size_t>> rank_of_answer(const DocumentationQuestion& question, std::span<const Hit> hits);

/// Asks every question of one set; `system` has its documents as its corpus.
Result<std::vector<AskedQuestion>> ask_documentation(const EvalJob& job, const System& system, const DocumentationSet& set);

/// The figures of all questions, and of each half, set and kind where there are several. Counts, not shares.
std::vector<AnswerGroup> groups_of(std::span<const AskedQuestion> asked);
/// A run of two stages: "answerable" and "unanswerable", each row a question; those without a row are left out.
EvalRun documentation_run(std::span<const AskedQuestion> asked);
/// One question for later study: one line of --answers.
JsonObject asked_json(const AskedQuestion& asked);

}  // namespace footnote::eval
