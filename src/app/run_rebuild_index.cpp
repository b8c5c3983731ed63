#include <algorithm>
#include <thread>

#include "app/commands.h"
#include "app/embedder_opener.h"
#include "app/open_link.h"
#include "base/json_view.h"
#include "base/text.h"
#include "cli/progress.h"
#include "points/memories.h"

namespace footnote::app {
namespace {

constexpr std::string_view kRebuildPath = "/api/admin/rebuild";
constexpr std::chrono::milliseconds kPollEvery{100};

/// Starts the rebuild of one corpus and waits for it. Interrupting this does not stop a server's rebuild.
Result<Json> rebuild(const cli::CommandContext& context, cli::Link& link, const Json& body) {
  FOOTNOTE_CHECK(link.post(context.call, kRebuildPath, body));
  cli::ProgressBar bar = cli::progress_bar("chunks", context.terminal);
  for (;;) {
    FOOTNOTE_CHECK(context.call.check());
    FOOTNOTE_TRY(Json state, link.get(context.call, kRebuildPath));
    if (text_at(state, "state") != "running") return state;
    bar.update(static_cast<std::uint64_t>(integer_at(state, "done")), static_cast<std::uint64_t>(integer_at(state, "total")));
    std::this_thread::sleep_for(kPollEvery);
  }
}

/// Rebuilds with the configured model. If that does not open but the corpus already uses it, rebuilds only the indexes, which need no
/// model.
Result<Json> rebuild_named(const cli::CommandContext& context, cli::Link& link, const std::string& name, std::string_view model_now) {
  const bool has_own = name == points::kMemoriesCollection && context.settings.is_set(Setting::kAgentEmbedderUrl);
  const std::string model = has_own ? std::string() : configured_model(context.settings);
  auto state = rebuild(context, link, JsonObject{{"corpus", name}, {"model", model}});
  const bool may_do_without = !state && state.error().code == ErrorCode::kFailedPrecondition && model_now == model;
  if (!may_do_without || !context.call.check()) return state;
  cli::write_err(fmt::format("footnote: token codes stay as they are: {}\n", state.error().message));
  return rebuild(context, link, JsonObject{{"corpus", name}});
}

Result<void> report(const cli::CommandContext& context, const Json& state) {
  if (context.form == cli::OutputForm::kJson) cli::write_out(to_text(state) + "\n");
  const std::string_view name = text_at(state, "corpus");
  const std::string_view model = text_at(state, "model");
  const std::string_view end = text_at(state, "state");
  if (end == "failed" || end == "cancelled")
    return fail(ErrorCode::kUnavailable, "{}: {}", cli::corpus_label(name), text_at(state, "error"));
  if (context.form == cli::OutputForm::kJson) return {};
  if (end == "ready") {
    cli::write_out(fmt::format("{}: all {} chunks are embedded by {}; restart the server with MODEL_NAME={} to switch to it\n",
                               cli::corpus_label(name), integer_at(state, "total"), model, model));
    return {};
  }
  if (const auto embedded = integer_at(state, "embedded"); embedded > 0) {
    cli::write_out(fmt::format("{}: {} chunks embedded by {}\n", cli::corpus_label(name), embedded, model));
  }
  if (const auto recoded = integer_at(state, "recoded"); recoded > 0) {
    cli::write_out(fmt::format("{}: token codes of {} chunks recomputed\n", cli::corpus_label(name), recoded));
  }
  cli::write_out(fmt::format("{}: {} chunks at generation {}, {}\n", cli::corpus_label(name), integer_at(state, "rows"),
                             integer_at(state, "generation"), human_bytes(static_cast<std::uint64_t>(integer_at(state, "bytes")))));
  return {};
}

}  // namespace

Result<int> run_rebuild_index(const cli::CommandContext& context, const cli::RebuildIndexCommand& command) {
  FOOTNOTE_TRY(const auto link, open_link(context, {}));
  FOOTNOTE_TRY(const Json listed, link->get(context.call, "/api/corpora"));
  const JsonArray& corpora = array_at(listed, "corpora");
  // Vectors are replaced only for a corpus that is named: they may have been imported.
  if (!command.corpus.empty()) {
    const auto named = std::ranges::find(corpora, command.corpus, [](const Json& corpus) { return text_at(corpus, "name"); });
    const std::string_view model = named == corpora.end() ? "" : text_at(*named, "model");
    FOOTNOTE_TRY(const Json state, rebuild_named(context, *link, command.corpus, model));
    FOOTNOTE_CHECK(report(context, state));
    return cli::kExitOk;
  }
  for (const Json& corpus : corpora) {
    FOOTNOTE_TRY(const Json state, rebuild(context, *link, JsonObject{{"corpus", text_at(corpus, "name")}}));
    FOOTNOTE_CHECK(report(context, state));
  }
  return cli::kExitOk;
}

}  // namespace footnote::app
