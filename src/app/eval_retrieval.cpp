#include <algorithm>

#include "api/kb_wire.h"
#include "app/eval_answers.h"
#include "app/eval_corpus.h"
#include "app/eval_metrics.h"
#include "app/eval_set.h"

namespace footnote::app {
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

Result<StageRun> measure_ranking(const EvalJob& job, const Composition& parts, const Corpus& corpus, const std::string& name,
                                 std::span<const LabelledQuestion> questions) {
  FOOTNOTE_TRY(retrieve::RetrieveOptions options, options_of(name));
  options.profile = api::profile_for(corpus, options.profile, parts.judge_name());
  options.profile.top_k = kRankingDepth;
  options.profile.per_document_max = 1;
  StageRun stage{
      .stage = name, .figures = {}, .metrics = {"ndcg_10", "mrr_10", "map", "recall_10", "recall_100"}, .compared = 5, .rows = {}};
  ProgressBar bar = job.bar("questions");
  const RowTimer timer;
  for (const LabelledQuestion& question : questions) {
    if (question.documents.empty()) continue;
    bar.update(stage.rows.size(), questions.size());
    FOOTNOTE_TRY(const auto found, parts.retriever().retrieve(job.context.call, corpus.id, question.text, options));
    std::vector<std::string> ranking;
    for (const Hit& hit : found.hits) ranking.push_back(hit.document_key);
    stage.rows.push_back({question.id, row_values(ranking, question.documents)});
  }
  stage.ms_per_row = timer.ms_per_row(stage.rows.size());
  stage.figures = means_of(stage);
  return stage;
}

/// The stages that order, as far as they are there.
std::vector<std::string> ranking_stages(const Composition& parts) {
  std::vector<std::string> out{"keyword", "vector", "late", "fused"};
  if (!parts.judge_name().empty()) out.push_back("judged");
  return out;
}

Result<EvalRun> measure(const EvalJob& job, const Composition& parts, const Corpus& corpus, std::span<const LabelledQuestion> questions,
                        const std::vector<std::string>& stages) {
  EvalRun run{.kind = {}, .set = {}, .embedder = corpus.space.model_id, .reranker = {}, .rows = questions.size(), .stages = {}};
  for (const std::string& stage : stages) {
    FOOTNOTE_TRY(auto measured, stage == kWholeStage ? measure_answers(job, parts, corpus, questions)
                                                     : measure_ranking(job, parts, corpus, stage, questions));
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
    return fail(ErrorCode::kUnsupported, "'{}' is not a stage that orders passages here", stage);
  }
  if (stage != "judged") options.profile.judged = 0;
  return options;
}

Result<EvalRun> eval_retrieval(const EvalJob& job) {
  FOOTNOTE_TRY(const BeirSet set, read_beir(job.command.set));
  FOOTNOTE_TRY(const EvalCorpus opened, open_eval_corpus(job, set));
  std::vector<LabelledQuestion> questions;
  for (const BeirQuestion& question : set.questions) questions.push_back({question.id, question.text, question.grades, {}});
  std::vector<std::string> stages = ranking_stages(*opened.parts);
  if (!job.command.foreign.empty()) stages.emplace_back(kWholeStage);
  FOOTNOTE_TRY(EvalRun run, measure(job, *opened.parts, opened.corpus, job.limited(questions), job.stages_or(stages)));
  run.facts = {{"documents", static_cast<double>(set.documents.size())},
               {"documents_embedded", static_cast<double>(opened.embedded)},
               {"embed_seconds", opened.seconds}};
  return run;
}

Result<EvalRun> eval_questions(const EvalJob& job) {
  const CommandContext& context = job.context;
  FOOTNOTE_TRY(const auto questions, read_questions(job.command.set));
  FOOTNOTE_TRY(DataFolder folder, DataFolder::open(context.settings.path(Setting::kData)));
  FOOTNOTE_TRY(const auto parts, Composition::open(context.call, context.settings, std::move(folder)));
  FOOTNOTE_TRY(const Corpus corpus, api::find_asked_corpus(context.call, parts->catalog(), parts->workspace(), parts->embedder().space(),
                                                           context.settings.text(Setting::kCorpus)));
  FOOTNOTE_CHECK(build_indexes(context.call, *parts, context.terminal));
  const bool labelled = std::ranges::any_of(questions, [](const LabelledQuestion& question) { return !question.documents.empty(); });
  std::vector<std::string> stages = labelled ? ranking_stages(*parts) : std::vector<std::string>{};
  stages.emplace_back(kWholeStage);
  return measure(job, *parts, corpus, job.limited(questions), job.stages_or(stages));
}

}  // namespace footnote::app
