#include <cmath>

#include "answer/citation_check.h"
#include "answer/quote.h"
#include "eval/job.h"
#include "eval/metrics.h"
#include "eval/set.h"

namespace footnote::eval {
namespace {

struct CheckedRow {
  const GroundingRow* row = nullptr;
  answer::SupportVerdict verdict;

  double sum() const { return answer::support_score(verdict.signals); }
};

double positive(const CheckedRow& row, std::string_view stage) {
  const answer::SupportSignals& signals = row.verdict.signals;
  if (stage == "relevance") return signals.relevance.value_or(0);
  if (stage == "word_share") return signals.word_share;
  if (stage == "cosine") return signals.cosine;
  return stage == "sum" ? row.sum() : row.verdict.score;
}

double auc_of(std::span<const CheckedRow> rows, std::string_view stage, bool partly_is_unsupported) {
  std::vector<double> supported;
  std::vector<double> others;
  for (const CheckedRow& row : rows) {
    if (row.row->label == Grounding::kSupported) supported.push_back(positive(row, stage));
    if (row.row->label == Grounding::kUnsupported || (partly_is_unsupported && row.row->label == Grounding::kPartly))
      others.push_back(positive(row, stage));
  }
  return area_under_curve(supported, others);
}

bool has_partly(std::span<const CheckedRow> rows) {
  return std::ranges::any_of(rows, [](const CheckedRow& row) { return row.row->label == Grounding::kPartly; });
}

/// Results for one signal, for their sum, or for the check with its rules. Partly supported rows count as neither right nor wrong.
StageRun stage_of(const std::string& stage, std::span<const CheckedRow> rows, double ms_per_row) {
  StageRun out{.stage = stage, .figures = {{"auc", auc_of(rows, stage, false)}}, .ms_per_row = ms_per_row, .metrics = {}, .rows = {}};
  if (has_partly(rows)) out.figures.push_back({"auc_partly_as_unsupported", auc_of(rows, stage, true)});
  if (stage != "sum" && stage != "check") return out;
  Decisions supported;
  Decisions unsupported;
  out.metrics = {"right", "label", "score", "relevance", "word_share", "cosine", "breach"};
  out.compared = 1;
  for (const CheckedRow& row : rows) {
    if (row.row->label == Grounding::kPartly) continue;
    const bool is_supported = row.row->label == Grounding::kSupported;
    const bool said = stage == "sum" ? row.sum() > 0 : row.verdict.support == Support::kSupported;
    supported.add(is_supported, said);
    unsupported.add(!is_supported, !said);
    const auto& signals = row.verdict.signals;
    out.rows.push_back(
        {row.row->id,
         {said == is_supported ? 1.0 : 0.0, is_supported ? 1.0 : 0.0, row.verdict.score, signals.relevance.value_or(std::nan("")),
          signals.word_share, signals.cosine, row.verdict.breach ? 1.0 + static_cast<double>(*row.verdict.breach) : 0.0}});
  }
  out.figures.insert(out.figures.end(), {{"f1", supported.f1()},
                                         {"precision", supported.precision()},
                                         {"recall", supported.recall()},
                                         {"unsupported_precision", unsupported.precision()},
                                         {"unsupported_recall", unsupported.recall()},
                                         {"accuracy", supported.accuracy()}});
  return out;
}

}  // namespace

Result<EvalRun> eval_grounding(const EvalJob& job, Embedder& embedder, Reranker* reranker) {
  const cli::CommandContext& context = job.context;
  FOOTNOTE_TRY(const auto rows, read_grounding_rows(job.command.set));
  const answer::CitationCheck check(embedder, reranker);

  const std::span<const GroundingRow> asked = job.limited(rows);
  std::vector<CheckedRow> checked;
  cli::ProgressBar bar = job.bar("claims");
  const RowTimer timer;
  for (const GroundingRow& row : asked) {
    bar.update(checked.size(), asked.size());
    const answer::CitedPassage passage{row.evidence};
    FOOTNOTE_TRY(auto verdict, check.check(context.call, answer::plain_quote(row.claim), {&passage, 1}));
    checked.push_back({&row, std::move(verdict)});
  }
  const double ms_per_row = timer.ms_per_row(checked.size());
  bar.clear();
  EvalRun run{.kind = {}, .set = {}, .embedder = embedder.space().model_id, .reranker = {}, .rows = checked.size(), .stages = {}};
  std::vector<std::string> all{"word_share", "cosine", "sum", "check"};
  if (reranker != nullptr) all.insert(all.begin(), "relevance");
  for (const std::string& stage : job.stages_or(all)) run.stages.push_back(stage_of(stage, checked, ms_per_row));
  return run;
}

}  // namespace footnote::eval
