#include "app/commands.h"
#include "app/open_link.h"
#include "base/json_view.h"
#include "cli/progress.h"
#include "http/url.h"

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
  FOOTNOTE_TRY(const auto link, open_link(context, {.needs = command.clear ? Needs::kModel : Needs::kIndexes}));
  const bool json = context.form == cli::OutputForm::kJson;
  if (command.clear) {
    const std::string target = fmt::format("{}?corpus={}", kCalibratePath, http::percent_encode(name));
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
