#include "app/commands.h"
#include "app/folder_access.h"
#include "app/ingest_parts.h"
#include "app/remote_ingest.h"
#include "base/log.h"
#include "cli/ingest_output.h"

namespace footnote::app {
namespace {

namespace fs = std::filesystem;

/// A misspelt path should fail before a model is loaded.
Result<void> check_paths(const std::vector<std::string>& paths) {
  for (const std::string& path : paths) {
    if (path.starts_with("http://") || path.starts_with("https://")) {
      return fail(ErrorCode::kUnsupported, "{}: addresses can't be read yet; save the page and ingest the file", path);
    }
    std::error_code error;
    if (!fs::exists(path, error)) return fail(ErrorCode::kNotFound, "{}: no such file or folder", path);
  }
  return {};
}

Result<std::vector<ingest::SourceInput>> make_inputs(const cli::CommandContext& context, const cli::IngestCommand& command,
                                                     IngestParts& parts, const Corpus& corpus) {
  std::vector<ingest::SourceInput> inputs;
  for (const std::string& path : command.paths) {
    std::error_code error;
    const fs::path canonical = fs::canonical(path, error);
    if (error) return fail(ErrorCode::kNotFound, "{}: {}", path, error.message());
    FOOTNOTE_TRY(const Source source, parts.catalog().ensure_source(context.call, corpus.id, SourceKind::kFolder, canonical.string()));
    inputs.push_back({source.id, canonical, command.prefix});
  }
  return inputs;
}

/// Tells of one document. Added and updated ones are in the store by now, so their version can be looked up.
void tell(const cli::CommandContext& context, IngestParts& parts, const Corpus& corpus, const ingest::IngestProgress& step,
          cli::IngestOutput& output) {
  switch (step.change) {
    case ingest::DocumentChange::kAdded:
    case ingest::DocumentChange::kUpdated:
      if (context.form == cli::OutputForm::kJson) {
        const auto document = parts.chunks().find_document(context.call, corpus.id, step.key);
        output.committed(step.key, document && *document ? &**document : nullptr);
      }
      break;
    case ingest::DocumentChange::kDeleted: output.deleted(step.key); break;
    case ingest::DocumentChange::kUnchanged: break;
  }
  output.progress(step.done, step.total);
}

/// Book-keeping after a good ingest. What fails here is done by the next one: the documents are in.
void settle(const cli::CommandContext& context, IngestParts& parts, const Corpus& corpus, const std::vector<ingest::SourceInput>& inputs) {
  const UtcTime now = parts.clock().now();
  for (const auto& input : inputs) {
    if (const auto marked = parts.catalog().mark_synced(context.call, input.source, now); !marked) {
      log(LogLevel::kWarn, "app", "source not marked as synced", {{"error", marked.error().message}});
    }
  }
  if (const auto purged = parts.chunks().purge(context.call, corpus.id, now - ingest::kPurgeGrace); !purged) {
    log(LogLevel::kWarn, "app", "purge failed", {{"error", purged.error().message}});
  }
}

Result<ingest::IngestReport> ingest_here(const cli::CommandContext& context, const cli::IngestCommand& command, DataFolder folder,
                                         cli::IngestOutput& output) {
  FOOTNOTE_TRY(const auto parts, IngestParts::open(context.call, context.settings, std::move(folder), {.indexes = Indexes::kOff}));
  FOOTNOTE_TRY(const Corpus corpus, parts->catalog().ensure_corpus(context.call, parts->workspace(),
                                                                   context.settings.text(Setting::kCorpus), parts->embedder().space()));
  FOOTNOTE_TRY(const auto inputs, make_inputs(context, command, *parts, corpus));
  ingest::IngestOptions options;
  options.prune = command.keep_deleted ? ingest::Prune::kOff : ingest::Prune::kOn;
  options.chunking.cut = command.profile == "proxy" ? chunk::Cut::kWindows : chunk::Cut::kHeadings;
  options.foreign_key = command.take_over ? ingest::ForeignKey::kTakeOver : ingest::ForeignKey::kReport;
  auto report = parts->ingestor().ingest(context.call, corpus, inputs, options,
                                         [&](const ingest::IngestProgress& step) { tell(context, *parts, corpus, step, output); });
  if (report) settle(context, *parts, corpus, inputs);
  return report;
}

}  // namespace

Result<int> run_ingest(const cli::CommandContext& context, const cli::IngestCommand& command) {
  FOOTNOTE_CHECK(check_paths(command.paths));
  FOOTNOTE_TRY(FolderAccess access, access_folder(context.settings, Missing::kCreate));
  cli::IngestOutput output(context);
  if (const auto* server = std::get_if<HeldByServer>(&access)) {
    cli::ServerLink link(server->url, server->token, context.settings.text(Setting::kWorkspace));
    FOOTNOTE_TRY(auto report, ingest_through_server(context, command, link, output));
    const int code = cli::ingest_exit_code(report);
    output.finish({std::move(report), server->url});
    return code;
  }
  FOOTNOTE_TRY(auto report, ingest_here(context, command, std::get<DataFolder>(std::move(access)), output));
  const int code = cli::ingest_exit_code(report);
  output.finish({std::move(report), {}});
  return code;
}

}  // namespace footnote::app
