#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "answer/citation_check.h"
#include "cli/commands.h"
#include "cli/progress.h"
#include "domain/profile.h"
#include "eval/beir.h"
#include "eval/run.h"
#include "eval/set.h"
#include "eval/system.h"
#include "ports/embedder.h"
#include "ports/reranker.h"
#include "retrieve/retriever.h"

namespace footnote::eval {

/// What `footnote eval` measures with, one function a kind of set. Borrowed for the run.
struct EvalJob {
  const cli::CommandContext& context;
  const cli::EvalCommand& command;

  /// The stages that were named, or `all`.
  std::vector<std::string> stages_or(std::vector<std::string> all) const { return command.stages.empty() ? all : command.stages; }
  /// The first so many rows as were asked for.
  template <class Row>
  std::span<const Row> limited(std::span<const Row> rows) const {
    return rows.first(command.limit == 0 ? rows.size() : std::min(command.limit, rows.size()));
  }
  template <class Row>
  std::span<const Row> limited(const std::vector<Row>& rows) const {
    return limited(std::span<const Row>(rows));
  }
  cli::ProgressBar bar(std::string unit) const;
};

/// A BEIR-form folder: each stage's ranking, and the whole ("answer") where it is asked for.
Result<EvalRun> eval_retrieval(const EvalJob& job, const System& system, const BeirSet& set);
/// A user's own questions over the corpus of the data folder: the same.
Result<EvalRun> eval_questions(const EvalJob& job, const System& system, std::span<const LabelledQuestion> questions);
/// A question and a context: does the reranker find the answer, and does it see when there is none?
Result<EvalRun> eval_reading(const EvalJob& job, Reranker& reranker);
/// A claim and its evidence: what does the citation check say?
/// `reranker` may be null.
Result<EvalRun> eval_grounding(const EvalJob& job, Embedder& embedder, Reranker* reranker);

/// How a stage's ranking is asked for: keyword, vector, late and fused (all but the judge), judged (with it).
/// kUnsupported: a stage that is not there.
Result<retrieve::RetrieveOptions> options_of(std::string_view stage);

/// How long each row took on average.
class RowTimer {
 public:
  double ms_per_row(std::size_t rows) const;

 private:
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace footnote::eval
