#include <cmath>

#include "eval/job.h"
#include "eval/metrics.h"
#include "eval/set.h"

namespace footnote::eval {
namespace {

/// From this probability on a passage counts as answering.
constexpr double kAnswersFrom = 0.5;

struct ReadRow {
  const ReadingRow* row = nullptr;
  Judgement judgement;
  double exact = 0;
  double f1 = 0;

  bool answerable() const { return !row->answers.empty(); }
  double margin() const { return judgement.answer ? judgement.answer->margin : judgement.raw; }
  /// The probability that the passage answers; for models that extract no answer, its relevance.
  double probability() const { return judgement.answer ? judgement.answer->probability : judgement.calibrated; }
  bool answers() const { return probability() >= kAnswersFrom; }
};

ReadRow score(const ReadingRow& row, const Judgement& judgement) {
  ReadRow out{.row = &row, .judgement = judgement};
  if (!judgement.answer) return out;
  const std::string_view said = std::string_view(row.context).substr(judgement.answer->range.begin, judgement.answer->range.size());
  for (const std::string& wanted : row.answers) {
    out.exact = std::max(out.exact, exact_match(said, wanted) ? 1.0 : 0.0);
    out.f1 = std::max(out.f1, word_f1(said, wanted));
  }
  return out;
}

double auc_of(std::span<const ReadRow> rows, double (*value)(const ReadRow&)) {
  std::vector<double> answerable;
  std::vector<double> others;
  for (const ReadRow& row : rows) (row.answerable() ? answerable : others).push_back(value(row));
  return area_under_curve(answerable, others);
}

/// F1 over all rows: without an answer, a refusal is right and counts 1.
double f1_of(const ReadRow& row, bool answers) { return row.answerable() ? (answers ? row.f1 : 0) : (answers ? 0 : 1); }

double f1_at_best_cut(std::span<const ReadRow> rows) {
  std::vector<const ReadRow*> sorted;
  double sum = 0;
  for (const ReadRow& row : rows) {
    sorted.push_back(&row);
    sum += f1_of(row, true);
  }
  std::ranges::sort(sorted, {}, [](const ReadRow* row) { return row->probability(); });
  double best = sum;
  for (const ReadRow* row : sorted) {  // refuse this row and all below it
    sum += f1_of(*row, false) - f1_of(*row, true);
    best = std::max(best, sum);
  }
  return rows.empty() ? 0 : best / static_cast<double>(rows.size());
}

StageRun summary_of(std::span<const ReadRow> rows, double ms_per_row) {
  StageRun out{.stage = "reader",
               .figures = {},
               .ms_per_row = ms_per_row,
               .metrics = {"f1_all", "exact", "f1", "answerable", "margin", "relevance"},
               .compared = 1,
               .rows = {}};
  Decisions refusals;
  double exact = 0;
  double f1 = 0;
  double f1_all = 0;
  std::size_t answerable = 0;
  for (const ReadRow& row : rows) {
    refusals.add(!row.answerable(), !row.answers());
    f1_all += f1_of(row, row.answers());
    if (row.answerable()) {
      ++answerable;
      exact += row.exact;
      f1 += row.f1;
    }
    out.rows.push_back(
        {row.row->id, {f1_of(row, row.answers()), row.exact, row.f1, row.answerable() ? 1.0 : 0.0, row.margin(), row.judgement.raw}});
  }
  const auto mean = [](double sum, std::size_t count) { return count == 0 ? 0 : sum / static_cast<double>(count); };
  out.figures = {{"exact_match", mean(exact, answerable)},
                 {"f1", mean(f1, answerable)},
                 {"auc", auc_of(rows, [](const ReadRow& row) { return row.probability(); })},
                 {"auc_margin", auc_of(rows, [](const ReadRow& row) { return row.margin(); })},
                 {"auc_relevance", auc_of(rows, [](const ReadRow& row) { return row.judgement.raw; })},
                 {"refusal_precision", refusals.precision()},
                 {"refusal_recall", refusals.recall()},
                 {"f1_all", mean(f1_all, rows.size())},
                 {"f1_all_best_cut", f1_at_best_cut(rows)}};
  return out;
}

}  // namespace

Result<EvalRun> eval_reading(const EvalJob& job, Reranker& reranker) {
  const cli::CommandContext& context = job.context;
  FOOTNOTE_TRY(const auto rows, read_reading_rows(job.command.set));
  const std::span<const ReadingRow> asked = job.limited(rows);
  std::vector<ReadRow> read;
  cli::ProgressBar bar = job.bar("questions");
  const RowTimer timer;
  for (const ReadingRow& row : asked) {
    bar.update(read.size(), asked.size());
    const std::string_view passage = row.context;
    FOOTNOTE_TRY(const auto judged, reranker.rerank(context.call, row.question, {&passage, 1}));
    read.push_back(score(row, judged.at(0)));
  }
  const double ms_per_row = timer.ms_per_row(read.size());
  bar.clear();
  return EvalRun{.kind = {}, .set = {}, .embedder = {}, .reranker = {}, .rows = read.size(), .stages = {summary_of(read, ms_per_row)}};
}

}  // namespace footnote::eval
