#include <algorithm>

#include "eval/answers.h"
#include "eval/beir.h"
#include "eval/metrics.h"
#include "eval/set.h"

namespace footnote::eval {
namespace {

constexpr std::size_t kRankingDepth = 100;
constexpr std::string_view kWholeStage = "answer";

std::vector<double> row_values(std::span<const std::string> ranking, const Grades& grades) {
  return {ndcg_at(ranking, grades, 10), reciprocal_rank_at(ranking, grades, 10), average_precision(ranking, grades),
          recall_at(ranking, grades, 10), recall_at(ranking, grades, kRankingDepth)};
}

/// The means of the rows' metrics.
std::vector<Figure> means_of(const StageRun& stage) {
  std::vector<Figure> out;
  for (std::size_t metric = 0; metric < stage.metrics.size(); ++metric) {
    double sum = 0;
    for (const RowFigures& row : stage.rows) sum += row.values[metric];
    out.push_back({stage.metrics[metric], stage.rows.empty() ? 0 : sum / static_cast<double>(stage.rows.size())});
  }
  return out;
}

Result<StageRun> measure_ranking(const EvalJob& job, const System& system, const std::string& name,
                                 std::span<const LabelledQuestion> questions) {
  FOOTNOTE_TRY(retrieve::RetrieveOptions options, options_of(name));
  FOOTNOTE_TRY(options.profile, retrieve::asked_as(system.corpus, options.profile, system.models));
  options.profile.top_k = kRankingDepth;
  options.profile.per_document_max = 1;
  StageRun stage{
      .stage = name, .figures = {}, .metrics = {"ndcg_10", "mrr_10", "map", "recall_10", "recall_100"}, .compared = 5, .rows = {}};
  cli::ProgressBar bar = job.bar("questions");
  const RowTimer timer;
  for (const LabelledQuestion& question : questions) {
    if (question.documents.empty()) continue;
    bar.update(stage.rows.size(), questions.size());
    FOOTNOTE_TRY(const auto found, system.retriever.retrieve(job.context.call, system.corpus.id, question.text, options));
    std::vector<std::string> ranking;
    for (const Hit& hit : found.hits) ranking.push_back(hit.document_key);
    stage.rows.push_back({question.id, row_values(ranking, question.documents)});
  }
  stage.ms_per_row = timer.ms_per_row(stage.rows.size());
  stage.figures = means_of(stage);
  return stage;
}

/// The ranking stages that are available.
std::vector<std::string> ranking_stages(const System& system) {
  std::vector<std::string> out{"keyword", "vector", "late", "fused"};
  if (!system.models.judge.empty()) out.push_back("judged");
  return out;
}

Result<EvalRun> measure(const EvalJob& job, const System& system, std::span<const LabelledQuestion> questions,
                        const std::vector<std::string>& stages) {
  EvalRun run{.kind = {}, .set = {}, .embedder = system.corpus.space.model_id, .reranker = {}, .rows = questions.size(), .stages = {}};
  for (const std::string& stage : stages) {
    FOOTNOTE_TRY(auto measured,
                 stage == kWholeStage ? measure_answers(job, system, questions) : measure_ranking(job, system, stage, questions));
    run.stages.push_back(std::move(measured));
  }
  return run;
}

}  // namespace

Result<retrieve::RetrieveOptions> options_of(std::string_view stage) {
  retrieve::RetrieveOptions options{.profile = kAskProfile, .filter = {}};
  if (stage == "keyword") {
    options.recall = retrieve::Recall::kKeywordOnly;
  } else if (stage == "vector") {
    options.recall = retrieve::Recall::kVectorOnly;
  } else if (stage == "late") {
    options.recall = retrieve::Recall::kLateOnly;
  } else if (stage != "fused" && stage != "judged") {
    return fail(ErrorCode::kUnsupported, "'{}' is not a ranking stage here", stage);
  }
  if (stage != "judged") options.profile.judged = 0;
  return options;
}

Result<EvalRun> eval_retrieval(const EvalJob& job, const System& system, const BeirSet& set) {
  std::vector<LabelledQuestion> questions;
  for (const BeirQuestion& question : set.questions) questions.push_back({question.id, question.text, question.grades, {}});
  std::vector<std::string> stages = ranking_stages(system);
  if (!job.command.foreign.empty()) stages.emplace_back(kWholeStage);
  return measure(job, system, job.limited(questions), job.stages_or(stages));
}

Result<EvalRun> eval_questions(const EvalJob& job, const System& system, std::span<const LabelledQuestion> questions) {
  const bool labelled = std::ranges::any_of(questions, [](const LabelledQuestion& question) { return !question.documents.empty(); });
  std::vector<std::string> stages = labelled ? ranking_stages(system) : std::vector<std::string>{};
  stages.emplace_back(kWholeStage);
  return measure(job, system, job.limited(questions), job.stages_or(stages));
}

}  // namespace footnote::eval
