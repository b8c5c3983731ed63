#include "app/answer_parts.h"
#include "app/commands.h"
#include "app/eval_corpus.h"
#include "app/folder_access.h"
#include "base/file.h"
#include "base/log.h"
#include "base/text.h"
#include "eval/documentation.h"
#include "eval/job.h"
#include "eval/run.h"
#include "eval/set.h"

namespace footnote::app {
namespace {

eval::System system_of(const AnswerParts& parts, const Corpus& corpus) {
  return {parts.retriever(), parts.answers(), parts.corpora().models(), corpus};
}

Result<eval::EvalRun> measure_retrieval(const eval::EvalJob& job) {
  FOOTNOTE_TRY(const eval::BeirSet set, eval::read_beir(job.command.set));
  FOOTNOTE_TRY(const EvalCorpus opened, open_eval_corpus(job, set));
  FOOTNOTE_TRY(eval::EvalRun run, eval::eval_retrieval(job, system_of(*opened.parts, opened.corpus), set));
  run.facts = {{"documents", static_cast<double>(set.documents.size())},
               {"documents_embedded", static_cast<double>(opened.embedded)},
               {"embed_seconds", opened.seconds}};
  return run;
}

Result<eval::EvalRun> measure_questions(const eval::EvalJob& job) {
  const cli::CommandContext& context = job.context;
  FOOTNOTE_TRY(const auto questions, eval::read_questions(job.command.set));
  FOOTNOTE_TRY(DataFolder folder, own_folder(context.settings, Missing::kRefuse));
  FOOTNOTE_TRY(const auto parts, AnswerParts::open(context.call, context.settings, std::move(folder)));
  FOOTNOTE_TRY(const retrieve::AskedCorpus asked,
               parts->corpora().find(context.call, parts->base().workspace(), context.settings.text(Setting::kCorpus), kAskProfile));
  FOOTNOTE_CHECK(parts->base().build_indexes(context.call, context.terminal));
  return eval::eval_questions(job, system_of(*parts, asked.corpus), questions);
}

Result<eval::EvalRun> measure_reading(const eval::EvalJob& job) {
  Metrics metrics;
  FOOTNOTE_TRY(const auto reranker, open_reranker(job.context.settings, metrics));
  if (!reranker.provided.port) {
    return fail(ErrorCode::kFailedPrecondition, "measuring reading needs a reranker, and none is configured: set reranker.provider");
  }
  return eval::eval_reading(job, *reranker.provided.port);
}

Result<eval::EvalRun> measure_grounding(const eval::EvalJob& job) {
  Metrics metrics;
  FOOTNOTE_TRY(const auto embedder, open_embedder(job.context.call, job.context.settings, metrics));
  FOOTNOTE_TRY(const auto reranker, open_reranker(job.context.settings, metrics));
  return eval::eval_grounding(job, *embedder.port, reranker.provided.port.get());
}

Result<eval::EvalRun> measure_documentation(const eval::EvalJob& job) {
  const cli::EvalCommand& command = job.command;
  if (command.documents.empty()) {
    return fail(ErrorCode::kInvalidArgument, "{}: questions about documents: name their folder with --documents", command.set.string());
  }
  FOOTNOTE_TRY(const auto sets,
               eval::read_documentation(command.set, {command.documents, command.only, eval::parse_half(command.half), command.limit}));
  std::vector<eval::AskedQuestion> asked;
  std::string passages;
  double documents = 0;
  double embedded = 0;
  double seconds = 0;
  std::string embedder;
  for (const eval::DocumentationSet& set : sets) {
    FOOTNOTE_TRY(const PageCorpus pages, open_page_corpus(job, set));
    if (!pages.missing.empty()) {
      log(LogLevel::kWarn, "app", "pages of questions are not in the corpus", {{"set", set.name}, {"pages", join(pages.missing, ", ")}});
    }
    const eval::System system = system_of(*pages.opened.parts, pages.opened.corpus);
    if (command.passages.empty()) {
      FOOTNOTE_TRY(auto answers, eval::ask_documentation(job, system, set));
      std::ranges::move(answers, std::back_inserter(asked));
    } else {
      FOOTNOTE_TRY(const std::string lines, eval::passages_found(job, system, set));
      passages += lines;
    }
    documents += static_cast<double>(pages.documents);
    embedded += static_cast<double>(pages.opened.embedded);
    seconds += pages.opened.seconds;
    embedder = pages.opened.corpus.space.model_id;
  }
  if (!command.answers.empty()) {
    std::string lines;
    for (const eval::AskedQuestion& one : asked) lines += to_text(eval::asked_json(one)) + "\n";
    FOOTNOTE_CHECK(write_file_atomically(command.answers, lines));
  }
  eval::EvalRun run = eval::documentation_run(asked);
  if (!command.passages.empty()) {
    FOOTNOTE_CHECK(write_file_atomically(command.passages, passages));
    run.groups.clear();  // nothing was asked
  }
  run.embedder = embedder;
  run.facts = {{"documents", documents}, {"documents_embedded", embedded}, {"embed_seconds", seconds}};
  return run;
}

/// Reports options that do not apply to this kind of set, instead of ignoring them.
Result<void> check_options(const cli::EvalCommand& command, eval::EvalKind kind) {
  const bool about_documents =
      !command.documents.empty() || !command.half.empty() || !command.only.empty() || !command.answers.empty() || !command.passages.empty();
  if (kind != eval::EvalKind::kDocumentation && about_documents) {
    return fail(ErrorCode::kInvalidArgument,
                "{}: --documents, --half, --set, --answers and --passages are for questions about documents; this is {}",
                command.set.string(), eval::to_string(kind));
  }
  if (kind == eval::EvalKind::kDocumentation && (!command.stages.empty() || !command.foreign.empty())) {
    return fail(ErrorCode::kInvalidArgument, "{}: questions about documents are asked as a whole, without --stages and --foreign",
                command.set.string());
  }
  return {};
}

Result<eval::EvalRun> measure(const eval::EvalJob& job, eval::EvalKind kind) {
  switch (kind) {
    case eval::EvalKind::kRetrieval: return measure_retrieval(job);
    case eval::EvalKind::kReading: return measure_reading(job);
    case eval::EvalKind::kGrounding: return measure_grounding(job);
    case eval::EvalKind::kQuestions: return measure_questions(job);
    case eval::EvalKind::kDocumentation: return measure_documentation(job);
  }
  return fail(ErrorCode::kInternal, "an unknown kind of set");
}

void print_json(const eval::EvalRun& run, const std::vector<eval::Comparison>& comparisons) {
  JsonObject out{{"kind", run.kind},         {"set", run.set},   {"embedder", run.embedder},
                 {"reranker", run.reranker}, {"rows", run.rows}, {"stages", eval::stages_json(run.stages)}};
  for (const eval::Figure& fact : run.facts) out[fact.name] = fact.value;
  if (!run.groups.empty()) out["groups"] = eval::groups_json(run.groups);
  if (!comparisons.empty()) out["against"] = eval::comparisons_json(comparisons);
  cli::write_out(to_text(out) + "\n");
}

void print_text(const eval::EvalRun& run, const std::vector<eval::Comparison>& comparisons) {
  std::string facts;
  for (const eval::Figure& fact : run.facts) facts += fmt::format(", {} {:g}", eval::figure_title(fact.name), fact.value);
  cli::write_out(fmt::format("{}: {}, {} rows{}\n\n{}", run.set, run.kind, run.rows, facts,
                             run.groups.empty() ? eval::stages_table(run.stages) : eval::groups_table(run.groups)));
  if (!comparisons.empty()) {
    cli::write_out(fmt::format("\nAgainst the saved run, {} rows in common (p: paired randomisation test, two-sided):\n\n{}",
                               comparisons.front().rows, eval::comparisons_table(comparisons)));
  }
}

}  // namespace

Result<int> run_eval(const cli::CommandContext& context, const cli::EvalCommand& command) {
  FOOTNOTE_TRY(const eval::EvalKind kind, eval::kind_of(command.set));
  FOOTNOTE_CHECK(check_options(command, kind));
  eval::EvalRun before;
  if (!command.against.empty()) {
    FOOTNOTE_TRY(before, eval::load_run(command.against));  // load it first: a wrong name then fails early
  }
  FOOTNOTE_TRY(eval::EvalRun run, measure({context, command}, kind));
  run.kind = eval::to_string(kind);
  run.set = command.set.string();
  run.reranker = reranker_name(context.settings);
  if (!command.save.empty()) FOOTNOTE_CHECK(eval::save_run(run, command.save));
  std::vector<eval::Comparison> comparisons;
  if (!command.against.empty()) {
    FOOTNOTE_TRY(comparisons, eval::compare_runs(before, run));
  }
  context.form == cli::OutputForm::kJson ? print_json(run, comparisons) : print_text(run, comparisons);
  return cli::kExitOk;
}

}  // namespace footnote::app
