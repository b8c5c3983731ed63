#include "eval/documentation.h"

#include <algorithm>

#include "answer/quote.h"
#include "eval/asker.h"
#include "eval/metrics.h"
#include "retrieve/reading_profile.h"

namespace footnote::eval {
namespace {

double one_if(bool holds) { return holds ? 1.0 : 0.0; }

bool found_among(const AskedQuestion& asked, std::size_t first) { return asked.passage_rank && *asked.passage_rank <= first; }

/// As a reader's passages are found, but more of them: the turn keeps only the best few.
Result<retrieve::Retrieval> retrieve_passages(const EvalJob& job, const System& system, const Profile& profile,
                                              const DocumentationQuestion& question) {
  retrieve::RetrieveOptions options{.profile = retrieve::reading_profile(profile), .filter = {}};
  options.profile.top_k = options.profile.per_document_max = kPassagesLookedAt;
  return system.retriever.retrieve(job.context.call, system.corpus.id, question.text, options);
}

Result<AskedQuestion> ask_one(const EvalJob& job, const System& system, const Asker& asker, const DocumentationSet& set,
                              const DocumentationQuestion& question) {
  const auto start = std::chrono::steady_clock::now();
  FOOTNOTE_TRY(const answer::TurnReport report, asker.ask(question.text));
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
  AskedQuestion out{.set = set.name, .question = question, .text = {}, .gate = report.retrieval.gate, .ms = took.count()};
  FOOTNOTE_TRY(out.verdict, verdict_of(question, report.turn.outcome));
  if (const Answer* answer = std::get_if<Answer>(&report.turn.outcome)) {
    out.confidence = answer->confidence;
    out.text = answer->text;
    out.cited = cited_documents(*answer);
  } else if (const Refusal* refusal = std::get_if<Refusal>(&report.turn.outcome)) {
    out.text = refusal->text;
  }
  if (!question.answerable()) return out;
  FOOTNOTE_TRY(const auto found, retrieve_passages(job, system, asker.profile(), question));
  FOOTNOTE_TRY(out.passage_rank, rank_of_answer(question, found.hits));
  return out;
}

JsonObject passage_json(const Hit& hit) {
  JsonArray blocks;
  for (const chunk::QuoteBlock& block : answer::quotable_blocks(hit)) blocks.push_back(JsonArray{block.range.begin, block.range.end});
  return {{"page", hit.document_key}, {"header", answer::header_of(hit)}, {"text", hit.chunk.text},        {"blocks", std::move(blocks)},
          {"score", hit.score},       {"coverage", hit.coverage},         {"probability", hit.probability}};
}

/// The means of the rows, as figures in the order of the metrics.
StageRun stage_of(std::string name, std::vector<std::string> metrics, std::vector<RowFigures> rows, double ms) {
  StageRun out{.stage = std::move(name), .figures = {}, .metrics = std::move(metrics), .compared = 0, .rows = std::move(rows)};
  out.compared = out.metrics.size();
  out.ms_per_row = out.rows.empty() ? 0 : ms / static_cast<double>(out.rows.size());
  for (std::size_t metric = 0; metric < out.metrics.size(); ++metric) {
    double sum = 0;
    for (const RowFigures& row : out.rows) sum += row.values[metric];
    out.figures.push_back({out.metrics[metric], out.rows.empty() ? 0 : sum / static_cast<double>(out.rows.size())});
  }
  return out;
}

AnswerGroup group_of(std::string by, std::string name, std::span<const AskedQuestion* const> asked) {
  AnswerGroup out{.by = std::move(by), .name = std::move(name)};
  std::vector<Prediction> predictions;
  std::vector<double> times;
  for (const AskedQuestion* one : asked) {
    times.push_back(one->ms);
    if (one->answered()) predictions.push_back({one->confidence, one->verdict == Verdict::kRight});
    if (!one->question.answerable()) {
      ++out.unanswerable;
      out.unanswerable_refused += one->answered() ? 0 : 1;
      out.unanswerable_sure += one->sure_and_wrong() ? 1 : 0;
      continue;
    }
    ++out.answerable;
    out.right += one->verdict == Verdict::kRight ? 1 : 0;
    out.in_part += one->verdict == Verdict::kInPart ? 1 : 0;
    out.wrong += one->verdict == Verdict::kWrong ? 1 : 0;
    out.wrong_and_sure += one->sure_and_wrong() ? 1 : 0;
    out.refused += one->answered() ? 0 : 1;
    out.right_page += one->right_page() ? 1 : 0;
    out.found_10 += found_among(*one, kFirstPassages) ? 1 : 0;
    out.found_18 += found_among(*one, kPassagesLookedAt) ? 1 : 0;
  }
  out.ece = calibration_error(predictions);
  out.ms_median = percentile(times, 0.5);
  out.ms_p95 = percentile(times, 0.95);
  return out;
}

/// One group per name, in order of first occurrence; none if all questions have the same name.
void add_groups(const std::string& by, std::span<const AskedQuestion> asked, std::string (*name_of)(const AskedQuestion&),
                std::vector<AnswerGroup>& out) {
  std::vector<std::string> names;
  for (const AskedQuestion& one : asked) {
    if (const std::string name = name_of(one); std::ranges::find(names, name) == names.end()) names.push_back(name);
  }
  if (names.size() < 2) return;
  for (const std::string& name : names) {
    std::vector<const AskedQuestion*> members;
    for (const AskedQuestion& one : asked) {
      if (name_of(one) == name) members.push_back(&one);
    }
    out.push_back(group_of(by, name, members));
  }
}

}  // namespace

std::string_view to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::kRight: return "right";
    case Verdict::kInPart: return "in_part";
    case Verdict::kWrong: return "wrong";
    case Verdict::kRefused: return "refused";
  }
  return "refused";
}

bool AskedQuestion::right_page() const {
  return std::ranges::any_of(cited, [&](const std::string& key) { return std::ranges::find(question.pages, key) != question.pages.end(); });
}

Result<Verdict> verdict_of(const DocumentationQuestion& question, const Outcome& outcome) {
  const Answer* answer = std::get_if<Answer>(&outcome);
  if (answer == nullptr) return Verdict::kRefused;
  if (!question.answer) return Verdict::kWrong;
  const std::string text = plain_answer(*answer);
  FOOTNOTE_TRY(const bool right, question.answer->found_in(text));
  if (right) return Verdict::kRight;
  if (!question.part) return Verdict::kWrong;
  FOOTNOTE_TRY(const bool in_part, question.part->found_in(text));
  return in_part ? Verdict::kInPart : Verdict::kWrong;
}

Result<std::optional<std::size_t>> rank_of_answer(const DocumentationQuestion& question, std::span<const Hit> hits) {
  if (!question.answer) return std::nullopt;
  for (std::size_t i = 0; i < std::min(hits.size(), kPassagesLookedAt); ++i) {
    FOOTNOTE_TRY(const bool found, question.answer->found_in(hits[i].chunk.text));
    if (found) return i + 1;
  }
  return std::nullopt;
}

Result<std::vector<AskedQuestion>> ask_documentation(const EvalJob& job, const System& system, const DocumentationSet& set) {
  FOOTNOTE_TRY(const Profile profile, retrieve::asked_as(system.corpus, kAskProfile, system.models));
  const Asker asker(job, system, profile);
  std::vector<AskedQuestion> out;
  cli::ProgressBar bar = job.bar(set.name + " questions");
  for (const DocumentationQuestion& question : set.questions) {
    bar.update(out.size(), set.questions.size());
    auto asked = ask_one(job, system, asker, set, question);
    if (!asked) return with_context(std::move(asked).error(), question.id);
    out.push_back(*std::move(asked));
  }
  bar.clear();
  return out;
}

Result<std::string> passages_found(const EvalJob& job, const System& system, const DocumentationSet& set) {
  FOOTNOTE_TRY(const Profile profile, retrieve::asked_as(system.corpus, kAskProfile, system.models));
  std::string lines;
  cli::ProgressBar bar = job.bar(set.name + " questions");
  for (std::size_t i = 0; i < set.questions.size(); ++i) {
    bar.update(i, set.questions.size());
    const DocumentationQuestion& question = set.questions[i];
    auto found = retrieve_passages(job, system, profile, question);
    if (!found) return with_context(std::move(found).error(), question.id);
    JsonArray passages;
    for (const Hit& hit : found->hits) passages.push_back(passage_json(hit));
    lines += to_text(JsonObject{{"set", set.name},
                                {"id", question.id},
                                {"question", question.text},
                                {"searched", found->vector_search.scanned},
                                {"passages", std::move(passages)}}) +
             "\n";
  }
  bar.clear();
  return lines;
}

std::vector<AnswerGroup> groups_of(std::span<const AskedQuestion> asked) {
  std::vector<const AskedQuestion*> all;
  for (const AskedQuestion& one : asked) all.push_back(&one);
  std::vector<AnswerGroup> out{group_of("all", "all", all)};
  add_groups("half", asked, [](const AskedQuestion& one) { return std::string(to_string(one.question.half)); }, out);
  add_groups("set", asked, [](const AskedQuestion& one) { return one.set; }, out);
  add_groups("kind", asked, [](const AskedQuestion& one) { return one.question.kind; }, out);
  return out;
}

EvalRun documentation_run(std::span<const AskedQuestion> asked) {
  std::vector<RowFigures> answerable;
  std::vector<RowFigures> others;
  double answerable_ms = 0;
  double others_ms = 0;
  for (const AskedQuestion& one : asked) {
    if (!one.question.answerable()) {
      others.push_back({one.question.id, {one_if(!one.answered()), one_if(one.sure_and_wrong())}});
      others_ms += one.ms;
      continue;
    }
    answerable.push_back(
        {one.question.id,
         {one_if(one.verdict == Verdict::kRight), one_if(one.verdict == Verdict::kInPart), one_if(one.verdict == Verdict::kWrong),
          one_if(one.sure_and_wrong()), one_if(!one.answered()), one_if(one.right_page()), one_if(found_among(one, kFirstPassages)),
          one_if(found_among(one, kPassagesLookedAt))}});
    answerable_ms += one.ms;
  }
  EvalRun out{.kind = {}, .set = {}, .embedder = {}, .reranker = {}, .rows = asked.size(), .stages = {}, .groups = groups_of(asked)};
  if (!answerable.empty()) {
    out.stages.push_back(stage_of("answerable",
                                  {"right", "in_part", "wrong", "wrong_and_sure", "refused", "right_page", "found_10", "found_18"},
                                  std::move(answerable), answerable_ms));
  }
  if (!others.empty()) out.stages.push_back(stage_of("unanswerable", {"refused", "wrong_and_sure"}, std::move(others), others_ms));
  return out;
}

JsonObject asked_json(const AskedQuestion& asked) {
  const DocumentationQuestion& question = asked.question;
  return {{"set", asked.set},
          {"id", question.id},
          {"kind", question.kind},
          {"half", to_string(question.half)},
          {"question", question.text},
          {"answerable", question.answerable()},
          {"expected", question.answer ? Json(question.answer->source()) : Json()},
          {"pages", JsonArray(question.pages.begin(), question.pages.end())},
          {"outcome", to_string(asked.verdict)},
          {"confidence", asked.confidence},
          {"sure", asked.confidence >= kSureFrom},
          {"answer", asked.text},
          {"cited", JsonArray(asked.cited.begin(), asked.cited.end())},
          {"right_page", asked.right_page()},
          {"passage_rank", asked.passage_rank ? Json(*asked.passage_rank) : Json()},
          {"gate", JsonObject{{"grounded", asked.gate.grounded},
                              {"evidence", asked.gate.evidence},
                              {"threshold", asked.gate.threshold},
                              {"cosine", asked.gate.cosine},
                              {"coverage", asked.gate.coverage},
                              {"confidence", asked.gate.confidence}}},
          {"ms", asked.ms}};
}

}  // namespace footnote::eval
