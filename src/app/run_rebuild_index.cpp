#include <chrono>
#include <thread>

#include "app/commands.h"
#include "app/compose_models.h"
#include "app/folder_access.h"
#include "base/json.h"
#include "base/json_view.h"
#include "base/text.h"
#include "cli/progress.h"
#include "cli/server_link.h"
#include "ingest/index_sync.h"
#include "models/folder.h"
#include "points/memories.h"
#include "providers/local/local_code_index.h"
#include "providers/local/local_keyword_index.h"
#include "providers/local/local_vector_store.h"
#include "upkeep/index_files.h"
#include "upkeep/reembed.h"
#include "upkeep/stores.h"

namespace footnote::app {
namespace {

constexpr std::string_view kRebuildPath = "/api/admin/rebuild";

struct Rebuilt {
  IndexExtent extent;
  std::uint64_t bytes = 0;
  std::chrono::milliseconds time{0};
};

/// Away with the files of a corpus, and new ones out of the store. The vectors are in the store.
Result<Rebuilt> rebuild(const CallContext& call, upkeep::Stores& stores, const Corpus& corpus, std::uint64_t code_bytes_max) {
  const auto start = std::chrono::steady_clock::now();
  LocalVectorStore vectors;
  LocalKeywordIndex keywords;
  LocalCodeIndex codes(stores.chunks(), code_bytes_max);
  std::vector<SavedIndex*> indexes{&vectors, &keywords};
  if (code_bytes_max > 0) indexes.push_back(&codes);
  upkeep::IndexFiles files(stores.folder().path(), stores.chunks(), indexes);
  files.remove(corpus.id);
  files.remove(corpus.id, IndexKind::kCodes);  // Also where none is made.
  FOOTNOTE_CHECK(ingest::IndexSync(stores.chunks(), {&vectors, &keywords}, stores.clock()).sync(call, corpus.id));
  files.save(call, corpus, upkeep::IndexFiles::When::kAnythingChanged);
  files.save(call, corpus, upkeep::IndexFiles::When::kInBackground);
  Rebuilt out{.extent = vectors.extent(corpus.id)};
  for (const SavedIndex* index : indexes) {
    std::error_code error;
    const auto bytes = std::filesystem::file_size(files.path_of(corpus.id, index->kind()), error);
    if (error && corpus.generation > 0 && !index->lags())
      return fail(ErrorCode::kUnavailable, "the index files of corpus '{}' were not written; the log says why", corpus.name);
    if (!error) out.bytes += bytes;
  }
  out.time = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - start);
  return out;
}

/// The corpora that are meant. kNotFound names those that there are.
Result<std::vector<Corpus>> meant_corpora(const CallContext& call, upkeep::Stores& stores, const std::string& name) {
  if (name.empty()) return stores.catalog().corpora(call, stores.workspace());
  FOOTNOTE_TRY(Corpus corpus, stores.catalog().find_corpus(call, stores.workspace(), name));
  return std::vector<Corpus>{std::move(corpus)};
}

cli::ProgressBar bar_of(std::string what, const cli::Terminal& terminal) {
  const auto write = [](std::string_view text) { cli::write_err(text); };
  return cli::ProgressBar(std::move(what), terminal.width, terminal.progress ? cli::ProgressBar::Write(write) : nullptr);
}

void show(cli::ProgressBar& bar, const SqliteReembedding::Progress& progress) {
  bar.update(static_cast<std::uint64_t>(progress.done), static_cast<std::uint64_t>(progress.total));
}

/// A corpus, and what it took to make it the configured model's.
struct Brought {
  Corpus corpus;
  std::int64_t embedded = 0;  ///< Chunks that got other vectors.
  std::int64_t recoded = 0;   ///< Chunks that got other token codes alone.
};

/// Embeds every chunk of a corpus anew when it is of another model than the configured one, and changes it over; of the configured one,
/// token codes of another form than it makes now.
class Reembedder {
 public:
  Reembedder(const cli::CommandContext& context, upkeep::Stores& stores) : context_(context), stores_(stores) {}

  Result<Brought> bring_over(const Corpus& corpus) {
    if (!upkeep::may_be_embedded(corpus)) return Brought{corpus};
    // Only one corpus is brought over in a call, so there is one embedder.
    const bool has_own_embedder = corpus.name == points::kMemoriesCollection && context_.settings.is_set(Setting::kAgentEmbedderUrl);
    if (has_own_embedder) {
      FOOTNOTE_TRY(embedder_, open_agent_embedder(context_.call, context_.settings, metrics_));
    }
    const bool is_local = !has_own_embedder && !models::embeds_elsewhere(context_.settings);
    const bool is_own = is_local && corpus.space.model_id == models::model_folder_name(context_.settings.text(Setting::kModelsName));
    if (!embedder_.port) {
      auto opened = open_embedder(context_.call, context_.settings, metrics_);
      if (!opened && is_own) {  // The indexes need no model.
        cli::write_err(fmt::format("footnote: token codes stay as they are: {}\n", opened.error().message));
        return Brought{corpus};
      }
      FOOTNOTE_TRY(embedder_, std::move(opened));
    }
    const EmbeddingSpace target = embedder_.port->space();
    if (is_own && corpus.space != target) return Brought{corpus};
    SqliteReembedding reembedding(stores_.store());
    if (corpus.space == target) {
      cli::ProgressBar bar = bar_of("chunks recoded", context_.terminal);
      upkeep::IndexFiles files(stores_.folder().path(), stores_.chunks(), {});
      FOOTNOTE_TRY(const std::int64_t recoded,
                   upkeep::renew_codes(
                       context_.call, reembedding, *embedder_.port, corpus.id, [&] { files.remove(corpus.id, IndexKind::kCodes); },
                       [&](const auto& progress) { show(bar, progress); }));
      return Brought{.corpus = corpus, .recoded = recoded};
    }
    cli::ProgressBar bar = bar_of("chunks embedded", context_.terminal);
    std::int64_t total = 0;
    FOOTNOTE_CHECK(upkeep::embed_missing(context_.call, reembedding, *embedder_.port, corpus.id, [&](const auto& progress) {
      total = progress.total;
      show(bar, progress);
    }));
    FOOTNOTE_TRY(const bool switched, reembedding.switch_over(context_.call, corpus.id, target));
    if (!switched) return fail(ErrorCode::kInternal, "corpus '{}' did not change over to {}", corpus.name, target.model_id);
    FOOTNOTE_TRY(Corpus changed, stores_.catalog().corpus(context_.call, corpus.id));
    return Brought{.corpus = std::move(changed), .embedded = total};
  }

 private:
  const cli::CommandContext& context_;
  upkeep::Stores& stores_;
  Metrics metrics_;
  Provided<Embedder> embedder_;
};

void report(const cli::CommandContext& context, const Brought& brought, const Rebuilt& rebuilt) {
  const Corpus& corpus = brought.corpus;
  if (context.form == cli::OutputForm::kJson) {
    cli::write_out(to_text(JsonObject{{"corpus", corpus.name},
                                      {"model", corpus.space.model_id},
                                      {"embedded", brought.embedded},
                                      {"recoded", brought.recoded},
                                      {"generation", rebuilt.extent.generation},
                                      {"rows", rebuilt.extent.rows},
                                      {"bytes", rebuilt.bytes},
                                      {"milliseconds", rebuilt.time.count()}}) +
                   "\n");
    return;
  }
  const std::string label = cli::corpus_label(corpus.name);
  if (brought.embedded > 0) {
    cli::write_out(fmt::format("{}: {} chunks embedded by {}\n", label, brought.embedded, corpus.space.model_id));
  }
  if (brought.recoded > 0) cli::write_out(fmt::format("{}: token codes of {} chunks made anew\n", label, brought.recoded));
  cli::write_out(fmt::format("{}: {} chunks at generation {}, {} in {} ms\n", label, rebuilt.extent.rows, rebuilt.extent.generation,
                             human_bytes(rebuilt.bytes), rebuilt.time.count()));
}

constexpr std::chrono::milliseconds kPollEvery{200};

/// Starts the server's rebuild of one corpus with our model and waits for its end. Interrupting this does not end that one.
Result<Json> rebuild_in_server(const cli::CommandContext& context, cli::ServerLink& server, std::string_view corpus,
                               std::string_view model) {
  JsonObject body{{"corpus", corpus}};
  if (!model.empty()) body["model"] = model;
  FOOTNOTE_CHECK(server.post(context.call, kRebuildPath, body));
  cli::ProgressBar bar = bar_of("chunks embedded", context.terminal);
  for (;;) {
    FOOTNOTE_CHECK(context.call.check());
    FOOTNOTE_TRY(Json state, server.get(context.call, kRebuildPath));
    if (text_at(state, "state") != "running") return state;
    bar.update(static_cast<std::uint64_t>(integer_at(state, "done")), static_cast<std::uint64_t>(integer_at(state, "total")));
    std::this_thread::sleep_for(kPollEvery);
  }
}

Result<int> run_in_server(const cli::CommandContext& context, const HeldByServer& held, const std::string& wanted) {
  cli::ServerLink server(held.url, held.token, context.settings.text(Setting::kWorkspace));
  std::vector<std::string> names{wanted};
  std::string model = context.settings.text(Setting::kEmbedderModel);
  if (!models::embeds_elsewhere(context.settings)) model = models::model_folder_name(context.settings.text(Setting::kModelsName));
  if (wanted.empty()) {
    FOOTNOTE_TRY(const Json listed, server.get(context.call, "/api/corpora"));
    names.clear();
    model.clear();  // as in run_rebuild_index
    for (const Json& corpus : array_at(listed, "corpora")) names.emplace_back(text_at(corpus, "name"));
  }
  for (const std::string& name : names) {
    FOOTNOTE_TRY(const Json state, rebuild_in_server(context, server, name, model));
    const std::string_view end = text_at(state, "state");
    if (context.form == cli::OutputForm::kJson) cli::write_out(to_text(state) + "\n");
    if (end == "failed" || end == "cancelled")
      return fail(ErrorCode::kUnavailable, "{}: {}", cli::corpus_label(name), text_at(state, "error"));
    if (context.form == cli::OutputForm::kJson) continue;
    cli::write_out(end == "ready"
                       ? fmt::format("{}: all {} chunks are embedded by {}; restart the server with MODEL_NAME={} to change over\n",
                                     cli::corpus_label(name), integer_at(state, "total"), text_at(state, "model"), text_at(state, "model"))
                       : fmt::format("{}: rebuilt by the server\n", cli::corpus_label(name)));
  }
  return cli::kExitOk;
}

}  // namespace

Result<int> run_rebuild_index(const cli::CommandContext& context, const cli::RebuildIndexCommand& command) {
  FOOTNOTE_TRY(FolderAccess access, access_folder(context.settings, Missing::kRefuse));
  if (const auto* server = std::get_if<HeldByServer>(&access)) return run_in_server(context, *server, command.corpus);
  FOOTNOTE_TRY(const auto stores,
               upkeep::Stores::open(context.call, std::get<DataFolder>(std::move(access)), context.settings.text(Setting::kWorkspace)));
  FOOTNOTE_TRY(const auto corpora, meant_corpora(context.call, *stores, command.corpus));
  Reembedder reembedder(context, *stores);
  for (const Corpus& corpus : corpora) {
    // Vectors are replaced only where that is asked for by name: they may have come from outside.
    FOOTNOTE_TRY(const Brought brought, command.corpus.empty() ? Result<Brought>(Brought{corpus}) : reembedder.bring_over(corpus));
    FOOTNOTE_TRY(const Rebuilt rebuilt, rebuild(context.call, *stores, brought.corpus, upkeep::code_file_bytes(context.settings)));
    report(context, brought, rebuilt);
  }
  return cli::kExitOk;
}

}  // namespace footnote::app
