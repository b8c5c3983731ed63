#include "app/commands.h"
#include "app/open_link.h"
#include "base/base64.h"
#include "base/json_view.h"
#include "cli/ingest_output.h"
#include "ingest/folder_reader.h"
#include "ingest/folder_watch.h"
#include "ingest/time_to_go.h"

namespace footnote::app {
namespace {

constexpr std::string_view kIngestPath = "/api/kb/ingest";

/// A misspelt path should fail before a model is loaded.
Result<void> check_paths(const std::vector<std::string>& paths) {
  for (const std::string& path : paths) {
    if (path.starts_with("http://") || path.starts_with("https://")) {
      return fail(ErrorCode::kUnsupported, "{}: addresses can't be read yet; save the page and ingest the file", path);
    }
    std::error_code error;
    if (!std::filesystem::exists(path, error)) return fail(ErrorCode::kNotFound, "{}: no such file or folder", path);
  }
  return {};
}

/// Reads the command's folders and sends them to POST /api/kb/ingest in batches. The route decides what is unchanged or deleted.
class FolderIngest {
 public:
  /// `stamps` are those of the last run, by path: files that have them still are not read again.
  FolderIngest(const cli::CommandContext& context, const cli::IngestCommand& command, cli::Link& link, cli::IngestOutput& output,
               std::map<std::string, ingest::FileStamps>& stamps)
      : context_(context), command_(command), link_(link), output_(output), stamps_(stamps) {}

  Result<ingest::IngestReport> run() {
    const SystemClock clock;
    std::vector<ingest::FolderReader> folders;
    for (const std::string& path : command_.paths) {
      FOOTNOTE_TRY(auto folder, ingest::FolderReader::open(context_.call, path, command_.prefix, clock, walk_options(), stamps_[path]));
      total_ += folder.files();
      bytes_total_ += folder.bytes();
      folders.push_back(std::move(folder));
    }
    for (std::size_t i = 0; i < folders.size(); ++i) {
      FOOTNOTE_CHECK(send(folders[i]));
      stamps_[command_.paths[i]] = folders[i].stamps();
    }
    return std::move(report_);
  }

 private:
  Result<void> send(ingest::FolderReader& folder) {
    for (;;) {
      FOOTNOTE_TRY(const auto batch, folder.next(context_.call));
      if (batch.empty()) break;
      JsonObject body = body_of(folder);
      for (const ingest::MemoryDocument& document : batch) body["documents"].get_array().push_back(render(document));
      FOOTNOTE_CHECK(post(body, bytes_before_ + folder.bytes_read()));
    }
    bytes_before_ += folder.bytes();
    const ingest::FolderListing& listing = folder.listing();
    JsonObject body = body_of(folder);
    body["prefix"] = listing.key_prefix;
    body["present"] = JsonArray(listing.present.begin(), listing.present.end());
    body["unknown"] = JsonArray(listing.unknown.begin(), listing.unknown.end());
    if (listing.listed_at) body["listed_at"] = to_rfc3339(*listing.listed_at);
    report_.problems.insert(report_.problems.end(), folder.problems().begin(), folder.problems().end());
    for (const auto& [kind, count] : folder.no_documents()) report_.no_documents[kind] += count;
    return post(body, bytes_before_);
  }

  JsonObject body_of(const ingest::FolderReader& folder) const {
    JsonObject body{{"project_key", context_.settings.text(Setting::kCorpus)},
                    {"folder", folder.location()},
                    {"take_over", command_.take_over},
                    {"keep_deleted", command_.keep_deleted},
                    {"profile", command_.profile},
                    {"documents", JsonArray{}}};
    // Without the flag, the setting of the storing process applies.
    if (command_.allow_secrets) body["allow_secrets"] = true;
    return body;
  }

  ingest::WalkOptions walk_options() const {
    const bool read = command_.allow_hard_links || context_.settings.text(Setting::kIngestHardLinks) == "read";
    return {.hard_links = read ? ingest::HardLinks::kRead : ingest::HardLinks::kRefuse};
  }

  static Json render(const ingest::MemoryDocument& document) {
    std::string bytes;
    append_base64(bytes, document.content);
    return JsonObject{{"source_path", document.key}, {"content_base64", std::move(bytes)}};
  }

  Result<void> post(const Json& body, std::uint64_t bytes_done) {
    FOOTNOTE_TRY(const Json answer, link_.post(context_.call, kIngestPath, body));
    for (const Json& document : array_at(answer, "documents")) take(document);
    for (const Json& key : array_at(answer, "deleted")) output_.deleted(key.get_string());
    const auto count = [&](std::string_view field) { return static_cast<std::size_t>(integer_at(answer, field)); };
    report_.added += count("added");
    report_.updated += count("updated");
    report_.unchanged += count("unchanged");
    report_.deleted += array_at(answer, "deleted").size();
    report_.chunks += count("chunks");
    report_.embedded_chunks += count("chunks_embedded");
    report_.reused_chunks += count("chunks_reused");
    report_.generation = std::max(report_.generation, integer_at(answer, "generation"));
    done_ += array_at(answer, "documents").size();
    const auto left = time_to_go_.update(static_cast<std::int64_t>(bytes_done), static_cast<std::int64_t>(bytes_total_),
                                         std::chrono::steady_clock::now());
    output_.progress(done_, std::max(done_, total_), left);
    return {};
  }

  void take(const Json& document) {
    const std::string key(text_at(document, "source_path"));
    if (text_at(document, "status") == "indexed") output_.committed(document);
    for (const auto& [field, kind] : {std::pair{"error", ingest::ProblemKind::kProblem},
                                      {"warning", ingest::ProblemKind::kWarning},
                                      {"kept_out", ingest::ProblemKind::kSecret}}) {
      if (const std::string_view reason = text_at(document, field); !reason.empty()) {
        report_.problems.push_back({key, std::string(reason), kind});
      }
    }
  }

  const cli::CommandContext& context_;
  const cli::IngestCommand& command_;
  cli::Link& link_;
  cli::IngestOutput& output_;
  std::map<std::string, ingest::FileStamps>& stamps_;
  ingest::IngestReport report_;
  std::size_t done_ = 0;
  std::size_t total_ = 0;
  std::uint64_t bytes_before_ = 0;  ///< Of the folders that are done.
  std::uint64_t bytes_total_ = 0;
  ingest::TimeToGo time_to_go_{std::chrono::steady_clock::now()};
};

/// Ingests again whenever something changes, until the call is cancelled.
Result<void> watch(const cli::CommandContext& context, const cli::IngestCommand& command, cli::Link& link,
                   std::map<std::string, ingest::FileStamps>& stamps, std::vector<ingest::FolderWatch>& watches) {
  constexpr std::chrono::milliseconds kLook{50};
  if (context.form == cli::OutputForm::kText) cli::write_err("watching; Ctrl-C ends it\n");
  for (;;) {
    FOOTNOTE_CHECK(context.call.check());
    bool changed = watches.front().wait(context.call.narrowed(kLook)).has_value();
    for (ingest::FolderWatch& folder : watches) changed = folder.is_due(std::chrono::steady_clock::now()) || changed;
    if (!changed) continue;
    cli::IngestOutput output(context);
    auto report = FolderIngest(context, command, link, output, stamps).run();
    if (!report && report.error().code == ErrorCode::kCancelled) return std::unexpected(report.error());
    if (!report) {
      // A folder that is being replaced is there again in a moment; a server that restarts too.
      cli::write_err(fmt::format("footnote: {}; trying again at the next change\n", cli::printable(report.error().message)));
      stamps.clear();
      continue;
    }
    const bool is_news = report->added + report->updated + report->deleted > 0 || !report->problems.empty();
    if (is_news) output.finish(*report);
  }
}

}  // namespace

Result<int> run_ingest(const cli::CommandContext& context, const cli::IngestCommand& command) {
  FOOTNOTE_CHECK(check_paths(command.paths));
  FOOTNOTE_TRY(const auto link, open_link(context, {.needs = Needs::kModel, .missing = Missing::kCreate}));
  // Watched before they are read: nothing changes unseen in between.
  std::vector<ingest::FolderWatch> watches;
  for (const std::string& path : command.paths) {
    if (!command.watch) break;
    FOOTNOTE_TRY(auto opened, ingest::FolderWatch::open(path));
    watches.push_back(std::move(opened));
  }
  std::map<std::string, ingest::FileStamps> stamps;
  ingest::IngestReport report;
  {
    cli::IngestOutput output(context);
    FOOTNOTE_TRY(report, FolderIngest(context, command, *link, output, stamps).run());
    output.finish(report);
  }
  if (command.watch) {
    const auto ended = watch(context, command, *link, stamps, watches);
    if (!ended && ended.error().code != ErrorCode::kCancelled) return std::unexpected(ended.error());
  }
  return cli::ingest_exit_code(report);
}

}  // namespace footnote::app
