#include "app/commands.h"
#include "app/compose_models.h"
#include "app/eval_job.h"
#include "app/eval_run.h"
#include "app/eval_set.h"

namespace footnote::app {
namespace {

Result<EvalRun> measure(const EvalJob& job, EvalKind kind) {
  switch (kind) {
    case EvalKind::kRetrieval: return eval_retrieval(job);
    case EvalKind::kReading: return eval_reading(job);
    case EvalKind::kGrounding: return eval_grounding(job);
    case EvalKind::kQuestions: return eval_questions(job);
  }
  return fail(ErrorCode::kInternal, "an unknown kind of set");
}

void print_json(const EvalRun& run, const std::vector<Comparison>& comparisons) {
  JsonObject out{{"kind", run.kind},         {"set", run.set},   {"embedder", run.embedder},
                 {"reranker", run.reranker}, {"rows", run.rows}, {"stages", stages_json(run.stages)}};
  for (const Figure& fact : run.facts) out[fact.name] = fact.value;
  if (!comparisons.empty()) out["against"] = comparisons_json(comparisons);
  write_out(to_text(out) + "\n");
}

void print_text(const EvalRun& run, const std::vector<Comparison>& comparisons) {
  std::string facts;
  for (const Figure& fact : run.facts) facts += fmt::format(", {} {:g}", figure_title(fact.name), fact.value);
  write_out(fmt::format("{}: {}, {} rows{}\n\n{}", run.set, run.kind, run.rows, facts, stages_table(run.stages)));
  if (!comparisons.empty()) {
    write_out(fmt::format("\nAgainst the saved run, {} rows in common (p: paired randomisation test, two-sided):\n\n{}",
                          comparisons.front().rows, comparisons_table(comparisons)));
  }
}

}  // namespace

ProgressBar EvalJob::bar(std::string unit) const {
  return ProgressBar(std::move(unit), context.terminal.width,
                     context.terminal.progress ? ProgressBar::Write([](std::string_view text) { write_err(text); }) : ProgressBar::Write());
}

double RowTimer::ms_per_row(std::size_t rows) const {
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start_;
  return rows == 0 ? 0 : took.count() / static_cast<double>(rows);
}

Result<int> run_eval(const CommandContext& context, const EvalCommand& command) {
  FOOTNOTE_TRY(const EvalKind kind, kind_of(command.set));
  EvalRun before;
  if (!command.against.empty()) {
    FOOTNOTE_TRY(before, load_run(command.against));  // before the work: a wrong name costs nothing then
  }
  FOOTNOTE_TRY(EvalRun run, measure({context, command}, kind));
  run.kind = to_string(kind);
  run.set = command.set.string();
  run.reranker = reranker_name(context.settings);
  if (!command.save.empty()) FOOTNOTE_CHECK(save_run(run, command.save));
  std::vector<Comparison> comparisons;
  if (!command.against.empty()) {
    FOOTNOTE_TRY(comparisons, compare_runs(before, run));
  }
  context.form == OutputForm::kJson ? print_json(run, comparisons) : print_text(run, comparisons);
  return kExitOk;
}

}  // namespace footnote::app
