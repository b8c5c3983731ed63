#include "app/answer_parts.h"
#include "app/commands.h"
#include "cli/progress.h"
#include "eval/calibrate_gate.h"
#include "eval/calibrate_probes.h"

namespace footnote::app {
namespace {

/// Of the corpus itself, and of each other one of the workspace.
constexpr std::size_t kOwnProbes = 300;
constexpr std::size_t kOtherCorpusProbes = 40;
constexpr std::size_t kOtherCorporaMax = 10;

/// One calibration on its way.
class Calibration {
 public:
  Calibration(const cli::CommandContext& context, AnswerParts& parts, Corpus corpus)
      : context_(context), parts_(parts), corpus_(std::move(corpus)) {}

  Result<GateCalibration> run(double rate) {
    FOOTNOTE_TRY(const auto own, eval::corpus_probes(context_.call, base_.chunks(), corpus_, kOwnProbes));
    FOOTNOTE_TRY(const auto foreign, foreign_probes());
    cli::ProgressBar bar("questions", context_.terminal.width,
                         context_.terminal.progress ? cli::ProgressBar::Write([](std::string_view text) { cli::write_err(text); })
                                                    : cli::ProgressBar::Write());
    FOOTNOTE_TRY(const auto own_evidence, evidence_of(own, bar, own.size() + foreign.size()));
    FOOTNOTE_TRY(const auto foreign_evidence, evidence_of(foreign, bar, own.size() + foreign.size()));
    bar.clear();
    FOOTNOTE_TRY(setting_, eval::set_gate(own_evidence, foreign_evidence, rate));
    return GateCalibration{.evidence_min = setting_.evidence_min,
                           .wanted_rate = rate,
                           .false_answer_rate = setting_.false_answer_rate,
                           .answered_rate = setting_.answered_rate,
                           .probes = static_cast<std::int64_t>(own.size() + foreign.size()),
                           .embedder = corpus_.space.model_id,
                           .judge = parts_.corpora().models().judge,
                           .made_at = base_.clock().now()};
  }
  const eval::GateSetting& setting() const { return setting_; }

 private:
  Result<std::vector<eval::Probe>> foreign_probes() const {
    std::vector<eval::Probe> out = eval::general_probes();
    FOOTNOTE_TRY(const auto corpora, base_.catalog().corpora(context_.call, corpus_.workspace));
    std::size_t read = 0;
    for (const Corpus& other : corpora) {
      if (other.id == corpus_.id || read == kOtherCorporaMax) continue;
      ++read;
      FOOTNOTE_TRY(auto probes, eval::corpus_probes(context_.call, base_.chunks(), other, kOtherCorpusProbes));
      for (eval::Probe& probe : probes) out.push_back({std::move(probe.question), "corpus " + other.name});
    }
    return out;
  }

  /// What the gate sees, before any calibration.
  Result<std::vector<eval::ProbeEvidence>> evidence_of(const std::vector<eval::Probe>& probes, cli::ProgressBar& bar, std::size_t total) {
    std::vector<eval::ProbeEvidence> out;
    for (const eval::Probe& probe : probes) {
      bar.update(asked_++, total);
      FOOTNOTE_TRY(const auto found,
                   parts_.retriever().retrieve(context_.call, corpus_.id, probe.question, {.profile = kAskProfile, .filter = {}}));
      out.push_back({probe.domain, found.gate.evidence});
    }
    return out;
  }

  const cli::CommandContext& context_;
  AnswerParts& parts_;
  IngestParts& base_ = parts_.base();
  const Corpus corpus_;
  eval::GateSetting setting_;
  std::size_t asked_ = 0;
};

void print_text(const std::string& name, const GateCalibration& gate, const eval::GateSetting& setting) {
  std::string out = fmt::format(
      "Corpus {}: evidence of {:.4f} or more answers.\n"
      "Measured on {} foreign and {} own questions that it was not set by: {:.1f} % of the foreign are answered (wanted: {:.1f} %), {:.1f} "
      "% of "
      "the own.\n",
      name, gate.evidence_min, setting.foreign, setting.own, 100 * gate.false_answer_rate, 100 * gate.wanted_rate,
      100 * gate.answered_rate);
  if (!setting.left_out.empty()) {
    out += "Not counted as foreign, because the corpus seems to cover them:";
    for (const std::string& domain : setting.left_out) out += " " + domain + (domain == setting.left_out.back() ? ".\n" : ",");
  }
  cli::write_out(cli::printable(out));
}

void print_json(const std::string& name, const GateCalibration& gate, const eval::GateSetting& setting) {
  cli::write_out(to_text(JsonObject{{"corpus", name},
                                    {"evidence_min", gate.evidence_min},
                                    {"wanted_rate", gate.wanted_rate},
                                    {"false_answer_rate", gate.false_answer_rate},
                                    {"answered_rate", gate.answered_rate},
                                    {"foreign_measured", setting.foreign},
                                    {"own_measured", setting.own},
                                    {"embedder", gate.embedder},
                                    {"judge", gate.judge},
                                    {"left_out", JsonArray(setting.left_out.begin(), setting.left_out.end())}}) +
                 "\n");
}

}  // namespace

Result<int> run_calibrate(const cli::CommandContext& context, const cli::CalibrateCommand& command) {
  const std::string name = command.corpus.empty() ? context.settings.text(Setting::kCorpus) : command.corpus;
  FOOTNOTE_TRY(DataFolder folder, DataFolder::open(context.settings.path(Setting::kData)));
  FOOTNOTE_TRY(const auto parts, AnswerParts::open(context.call, context.settings, std::move(folder)));
  IngestParts& base = parts->base();
  FOOTNOTE_TRY(const retrieve::AskedCorpus asked, parts->corpora().find(context.call, base.workspace(), name, kAskProfile));
  const Corpus& corpus = asked.corpus;
  if (!asked.profile.vectors) {
    return fail(ErrorCode::kFailedPrecondition, "the vectors of corpus {} come from its clients: questions can't be compared with them",
                name);
  }
  if (command.clear) {
    FOOTNOTE_CHECK(base.catalog().set_gate(context.call, corpus.id, std::nullopt));
    if (context.form == cli::OutputForm::kText)
      cli::write_out(cli::printable(fmt::format("Corpus {}: back to the general threshold.\n", name)));
    return cli::kExitOk;
  }
  FOOTNOTE_CHECK(base.build_indexes(context.call, context.terminal));
  Calibration calibration(context, *parts, corpus);
  FOOTNOTE_TRY(const GateCalibration gate, calibration.run(command.rate));
  FOOTNOTE_CHECK(base.catalog().set_gate(context.call, corpus.id, gate));
  context.form == cli::OutputForm::kJson ? print_json(name, gate, calibration.setting()) : print_text(name, gate, calibration.setting());
  return cli::kExitOk;
}

}  // namespace footnote::app
