#include "eval/answers.h"

#include <algorithm>

#include "eval/asker.h"
#include "eval/metrics.h"

namespace footnote::eval {
namespace {

/// The share of a file's questions that were refused.
Result<double> refused_share(const EvalJob& job, const Asker& asker, const std::filesystem::path& path) {
  FOOTNOTE_TRY(const auto texts, read_question_texts(path));
  const std::span<const std::string> asked = job.limited(texts);
  cli::ProgressBar bar = job.bar("foreign questions");
  std::size_t refused = 0;
  for (std::size_t i = 0; i < asked.size(); ++i) {
    bar.update(i, asked.size());
    FOOTNOTE_TRY(const answer::TurnReport report, asker.ask(asked[i]));
    if (!std::holds_alternative<Answer>(report.turn.outcome)) ++refused;
  }
  return static_cast<double>(refused) / static_cast<double>(asked.size());
}

bool cites_one_of(const Answer& answer, const Grades& documents) {
  return std::ranges::any_of(cited_documents(answer), [&](const std::string& key) {
    const auto found = documents.find(key);
    return found != documents.end() && found->second > 0;
  });
}

/// Compares words, so that quotes, case and line breaks do not matter.
bool holds_one_of(const Answer& answer, const std::vector<std::string>& texts) {
  const std::vector<std::string> said = answer_words(answer.text);
  return std::ranges::any_of(texts, [&](const std::string& text) {
    const std::vector<std::string> wanted = answer_words(text);
    return !wanted.empty() && !std::ranges::search(said, wanted).empty();
  });
}

/// A share that is reported only if anything was counted.
struct Share {
  std::size_t part = 0;
  std::size_t whole = 0;

  void add(bool counts) {
    ++whole;
    if (counts) ++part;
  }
  void tell(const std::string& name, std::vector<Figure>& figures) const {
    if (whole > 0) figures.push_back({name, static_cast<double>(part) / static_cast<double>(whole)});
  }
};

/// "queries.jsonl" is not a useful name: use its folder's name instead.
std::string name_of(const std::filesystem::path& path) {
  const std::filesystem::path named = path.filename() == "queries.jsonl" ? path.parent_path() : path;
  return "refused_" + (named.has_stem() ? named.stem() : named.parent_path().stem()).string();
}

}  // namespace

Result<StageRun> measure_answers(const EvalJob& job, const System& system, std::span<const LabelledQuestion> questions) {
  StageRun out{.stage = "answer", .figures = {}, .metrics = {"right", "answered"}, .compared = 1, .rows = {}};
  FOOTNOTE_TRY(const Profile profile, retrieve::asked_as(system.corpus, kAskProfile, system.models));
  const Asker asker(job, system, profile);
  Share answered;
  Share refused;
  Share right_source;
  Share right_text;
  cli::ProgressBar bar = job.bar("answers");
  const RowTimer timer;
  for (const LabelledQuestion& question : questions) {
    bar.update(out.rows.size(), questions.size());
    FOOTNOTE_TRY(const answer::TurnReport report, asker.ask(question.text));
    const Answer* answer = std::get_if<Answer>(&report.turn.outcome);
    (question.answerable ? answered : refused).add((answer != nullptr) == question.answerable);
    bool right = (answer != nullptr) == question.answerable;
    if (answer != nullptr && question.answerable && !question.documents.empty()) {
      right = cites_one_of(*answer, question.documents);
      right_source.add(right);
    }
    if (answer != nullptr && question.answerable && !question.answers.empty()) {
      const bool holds = holds_one_of(*answer, question.answers);
      right_text.add(holds);
      right = right && holds;
    }
    out.rows.push_back({question.id, {right ? 1.0 : 0.0, answer != nullptr ? 1.0 : 0.0}});
  }
  out.ms_per_row = timer.ms_per_row(out.rows.size());
  bar.clear();
  answered.tell("answered", out.figures);
  right_source.tell("right_source", out.figures);
  right_text.tell("right_text", out.figures);
  refused.tell("refused", out.figures);
  for (const std::filesystem::path& path : job.command.foreign) {
    FOOTNOTE_TRY(const double share, refused_share(job, asker, path));
    out.figures.push_back({name_of(path), share});
  }
  return out;
}

}  // namespace footnote::eval
