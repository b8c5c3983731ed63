#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "app/commands.h"
#include "app/compose.h"
#include "app/eval_run.h"
#include "app/progress.h"
#include "domain/profile.h"
#include "retrieve/retriever.h"

namespace footnote::app {

/// What `footnote eval` measures with, one function a kind of set. Borrowed for the run.
struct EvalJob {
  const CommandContext& context;
  const EvalCommand& command;

  /// The stages that were named, or `all`.
  std::vector<std::string> stages_or(std::vector<std::string> all) const { return command.stages.empty() ? all : command.stages; }
  /// The first so many rows as were asked for.
  template <class Row>
  std::span<const Row> limited(const std::vector<Row>& rows) const {
    return std::span<const Row>(rows).first(command.limit == 0 ? rows.size() : std::min(command.limit, rows.size()));
  }
  ProgressBar bar(std::string unit) const;
};

/// A BEIR-form folder: each stage's ranking, and the whole ("answer") where it is asked for.
Result<EvalRun> eval_retrieval(const EvalJob& job);
/// Questions of one's own over the corpus of the data folder: the same.
Result<EvalRun> eval_questions(const EvalJob& job);
/// A question and a context: does the reranker find the answer, and does it see when there is none?
Result<EvalRun> eval_reading(const EvalJob& job);
/// A claim and its evidence: what does the citation check say?
Result<EvalRun> eval_grounding(const EvalJob& job);

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

}  // namespace footnote::app
