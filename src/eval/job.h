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

/// Context of one `footnote eval` run, with one function per kind of set. Borrowed for the run.
struct EvalJob {
  const cli::CommandContext& context;
  const cli::EvalCommand& command;

  /// The stages given on the command line, or `all`.
  std::vector<std::string> stages_or(const std::vector<std::string>& all) const { return command.stages.empty() ? all : command.stages; }
  /// The first `--limit` rows.
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

/// A folder in BEIR format: each stage's ranking, and, if requested, complete answers ("answer").
Result<EvalRun> eval_retrieval(const EvalJob& job, const System& system, const BeirSet& set);
/// Like eval_retrieval, for a user's own questions about the data folder's corpus.
Result<EvalRun> eval_questions(const EvalJob& job, const System& system, std::span<const LabelledQuestion> questions);
/// A question and a context: does the reranker find the answer, and does it notice if there is none?
Result<EvalRun> eval_reading(const EvalJob& job, Reranker& reranker);
/// A claim and its evidence: what does the citation check say? `reranker` may be null.
Result<EvalRun> eval_grounding(const EvalJob& job, Embedder& embedder, Reranker* reranker);

/// Retrieval options for a stage's ranking: keyword, vector, late and fused (all but the judge), judged (with it). kUnsupported: no such
/// stage.
Result<retrieve::RetrieveOptions> options_of(std::string_view stage);

/// Average time per row.
class RowTimer {
 public:
  double ms_per_row(std::size_t rows) const;

 private:
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace footnote::eval
