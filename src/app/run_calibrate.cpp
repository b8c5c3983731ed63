#include "app/commands.h"
#include "app/open_link.h"
#include "base/json_view.h"
#include "cli/progress.h"
#include "http/url.h"
#include "upkeep/scale_keeper.h"

namespace footnote::app {
namespace {

constexpr std::string_view kCalibratePath = "/api/admin/calibrate";

void print_text(const Json& made) {
  std::string out = fmt::format(
      "{}: a probability of {:.4f} or more answers.\n"
      "Measured on {} foreign and {} own questions that it was not set by: {:.1f} % of the foreign are answered (wanted: {:.1f} %), {:.1f} "
      "% "
      "of the own.\n",
      cli::corpus_label(text_at(made, "corpus")), number_at(made, "evidence_min"), integer_at(made, "foreign_measured"),
      integer_at(made, "own_measured"), 100 * number_at(made, "false_answer_rate"), 100 * number_at(made, "wanted_rate"),
      100 * number_at(made, "answered_rate"));
  std::string left_out;
  for (const Json& domain : array_at(made, "left_out"))
    left_out += fmt::format("{} {}", left_out.empty() ? "" : ",", std::string_view(domain.get_string()));
  if (!left_out.empty()) out += fmt::format("Not counted as foreign, because the corpus seems to cover them:{}.\n", left_out);
  cli::write_out(cli::printable(out));
}

/// The models in words: "hosted and tei".
std::string models_of(const Json& gate) {
  const std::string_view judge = text_at(gate, "judge");
  return fmt::format("{}{}{}", text_at(gate, "embedder"), judge.empty() ? "" : " and ", judge);
}

std::string measured_rates(const Json& gate) {
  return fmt::format("{:.1f} % of the foreign questions pass, {:.1f} % of the corpus's own", 100 * number_at(gate, "false_answer_rate"),
                     100 * number_at(gate, "answered_rate"));
}

std::string how_it_was_set(const Json& gate) {
  const std::string_view source = text_at(gate, "source");
  if (source == "shipped")
    return fmt::format("The scores of {} are on a known scale, so this is the threshold as it ships.", models_of(gate));
  if (source == "automatic") {
    return fmt::format(
        "On {}, the server brought the scores of {} to the known scale, by {} questions over {} passages; the threshold is the one "
        "that ships. At it, {}. It does so again when the corpus has grown by half.",
        text_at(gate, "made_at"), models_of(gate), integer_at(gate, "questions"), integer_at(gate, "passages"), measured_rates(gate));
  }
  if (source == "calibrated") {
    return fmt::format("`footnote calibrate` set it on {}, by {} questions: {}.", text_at(gate, "made_at"), integer_at(gate, "questions"),
                       measured_rates(gate));
  }
  return fmt::format(
      "The scale of the scores of {} is not known yet, so only known signals count and confidence is uncalibrated. A running server "
      "fits it in the background once the corpus has {} passages; `footnote calibrate {}` does it now.",
      models_of(gate), upkeep::kFitPassagesMin, text_at(gate, "corpus"));
}

void print_state(const Json& gate) {
  cli::write_out(cli::printable(fmt::format(
      "{}: a probability of {:.4f} or more answers.\n{}\nWithout a language model the built-in reader decides instead, by its own "
      "probability of {:.2f} or more, which no calibration changes.\n",
      cli::corpus_label(text_at(gate, "corpus")), number_at(gate, "evidence_min"), how_it_was_set(gate), number_at(gate, "read_min"))));
}

/// Shows progress; the last event holds the result.
Result<Json> calibrate_aloud(const cli::CommandContext& context, cli::Link& link, const Json& body) {
  cli::ProgressBar bar = cli::progress_bar("questions", context.terminal);
  Json last;
  const auto take = [&](const Json& event) -> Result<void> {
    last = event;
    if (const auto total = integer_at(event, "total"); total > 0) bar.update(integer_at(event, "done"), total);
    return {};
  };
  const auto done = link.stream(context.call, kCalibratePath, body, take);
  bar.clear();
  if (!done) return std::unexpected(done.error());
  if (text_at(last, "corpus").empty()) return fail(ErrorCode::kUnavailable, "the calibration ended early; nothing was set");
  return last;
}

}  // namespace

Result<int> run_calibrate(const cli::CommandContext& context, const cli::CalibrateCommand& command) {
  const std::string name = command.corpus.empty() ? context.settings.text(Setting::kCorpus) : command.corpus;
  const bool measures = !command.clear && !command.show;
  FOOTNOTE_TRY(const auto link, open_link(context, {.needs = measures ? Needs::kIndexes : Needs::kModel}));
  const bool json = context.form == cli::OutputForm::kJson;
  const std::string target = fmt::format("{}?corpus={}", kCalibratePath, http::percent_encode(name));
  if (command.show) {
    FOOTNOTE_TRY(const Json gate, link->send(context.call, http::Method::kGet, target, nullptr));
    if (json) cli::write_out(to_text(gate) + "\n");
    if (!json) print_state(gate);
    return cli::kExitOk;
  }
  if (command.clear) {
    FOOTNOTE_CHECK(link->send(context.call, http::Method::kDelete, target, nullptr));
    if (!json) cli::write_out(cli::printable(fmt::format("{}: uses the general threshold again.\n", cli::corpus_label(name))));
    return cli::kExitOk;
  }
  FOOTNOTE_TRY(const Json made, calibrate_aloud(context, *link, JsonObject{{"corpus", name}, {"rate", command.rate}}));
  if (json) cli::write_out(to_text(made) + "\n");
  if (!json) print_text(made);
  return cli::kExitOk;
}

}  // namespace footnote::app
