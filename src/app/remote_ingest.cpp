#include "app/remote_ingest.h"

#include <set>

#include "base/json_view.h"
#include "base/utf8.h"
#include "chunk/detect.h"
#include "ingest/walk.h"

namespace footnote::app {
namespace {

using ingest::Problem;
using ingest::ProblemKind;

class RemoteIngest {
 public:
  RemoteIngest(const cli::CommandContext& context, const cli::IngestCommand& command, cli::ServerLink& server, cli::IngestOutput& output)
      : context_(context), command_(command), server_(server), output_(output) {}

  Result<ingest::IngestReport> run() {
    for (const std::string& path : command_.paths) {
      FOOTNOTE_TRY(auto walked, ingest::walk(context_.call, path, walk_options_of(context_, command_)));
      total_ += walked.files.size();
      walks_.push_back(std::move(walked));
    }
    for (std::size_t i = 0; i < walks_.size(); ++i) {
      const ingest::WalkResult& walked = walks_[i];
      folder_ = std::filesystem::weakly_canonical(command_.paths[i]).string();
      for (const Problem& problem : walked.problems) {
        if (problem.kind != ProblemKind::kIgnored) report_.problems.push_back(problem);
      }
      for (const auto& file : walked.files) FOOTNOTE_CHECK(take(walked, file));
      FOOTNOTE_CHECK(flush());
      // Below a folder that could not be read nothing is known: what was indexed from there must not go.
      if (walked.is_folder && walked.unknown.empty() && !command_.keep_deleted) FOOTNOTE_CHECK(prune(walked));
    }
    return std::move(report_);
  }

 private:
  Result<void> take(const ingest::WalkResult& walked, const ingest::FoundFile& file) {
    FOOTNOTE_CHECK(context_.call.check());
    const std::string& key = file.key;
    auto content = ingest::read_found(walked, file);
    if (!content) return leave_out(key, content.error().message);
    auto format = chunk::detect(key, *content);
    if (!format) {
      left_out_.insert(key);
      return leave_out(key, format.error().message);
    }
    if (!is_valid_utf8(*content)) {  // JSON can't carry it as it is
      report_.problems.push_back({key, "not valid UTF-8; the broken bytes were replaced", ProblemKind::kWarning});
      content = repair_utf8(*content);
    }
    bytes_ += content->size();
    batch_.push_back(JsonObject{{"project_key", context_.settings.text(Setting::kCorpus)},
                                {"source_path", command_.prefix + key},
                                {"mime_type", chunk::media_type(*format)},
                                {"content", *std::move(content)}});
    if (batch_.size() < kRemoteBatchDocumentsMax && bytes_ < kRemoteBatchBytesMax) return {};
    return flush();
  }

  Result<void> prune(const ingest::WalkResult& walked) {
    JsonArray present;
    for (const auto& file : walked.files) {
      if (!left_out_.contains(file.key)) present.emplace_back(command_.prefix + file.key);
    }
    const JsonObject body{{"project_key", context_.settings.text(Setting::kCorpus)},
                          {"folder", folder_},
                          {"documents", JsonArray{}},
                          {"present", std::move(present)}};
    FOOTNOTE_TRY(const Json answer, server_.post(context_.call, "/api/kb/ingest", body));
    for (const Json& key : array_at(answer, "deleted")) {
      ++report_.deleted;
      if (key.is_string()) output_.deleted(key.get_string());
    }
    return {};
  }

  Result<void> leave_out(const std::string& key, const std::string& reason) {
    report_.problems.push_back({key, reason, ProblemKind::kProblem});
    output_.progress(++done_, total_);
    return {};
  }

  Result<void> flush() {
    if (batch_.empty()) return {};
    JsonObject body{
        {"folder", folder_}, {"take_over", command_.take_over}, {"profile", command_.profile}, {"documents", std::move(batch_)}};
    // Unless asked for here, the server's own setting holds.
    if (command_.allow_secrets) body["allow_secrets"] = true;
    FOOTNOTE_TRY(const Json answer, server_.post(context_.call, "/api/kb/ingest", body));
    batch_ = {};
    bytes_ = 0;
    for (const Json& document : array_at(answer, "documents")) settle(document);
    if (const auto generation = integer_at(answer, "generation"); generation > 0) report_.generation = generation;
    output_.progress(done_, total_);
    return {};
  }

  void settle(const Json& document) {
    ++done_;
    const std::string_view status = text_at(document, "status");
    const std::string path(text_at(document, "source_path"));
    if (const std::string_view kept_out = text_at(document, "kept_out"); !kept_out.empty()) {
      report_.problems.push_back({path, std::string(kept_out), ProblemKind::kSecret});
    }
    if (status == "unchanged") {
      ++report_.unchanged;
    } else if (status == "indexed") {
      ++report_.updated;
      output_.committed(path, nullptr);
    } else if (status != "kept_out") {
      report_.problems.push_back({path, std::string(text_at(document, "error")), ProblemKind::kProblem});
    }
  }

  const cli::CommandContext& context_;
  const cli::IngestCommand& command_;
  cli::ServerLink& server_;
  cli::IngestOutput& output_;
  std::vector<ingest::WalkResult> walks_;
  ingest::IngestReport report_;
  std::set<std::string> left_out_;  ///< Read, but no longer something to index; its old text is no longer true.
  std::string folder_;              ///< What the documents of the batch belong to: the same source as without a server.
  JsonArray batch_;
  std::size_t bytes_ = 0;
  std::size_t done_ = 0;
  std::size_t total_ = 0;
};

}  // namespace

ingest::WalkOptions walk_options_of(const cli::CommandContext& context, const cli::IngestCommand& command) {
  const bool read = command.allow_hard_links || context.settings.text(Setting::kIngestHardLinks) == "read";
  return {.hard_links = read ? ingest::HardLinks::kRead : ingest::HardLinks::kRefuse};
}

Result<ingest::IngestReport> ingest_through_server(const cli::CommandContext& context, const cli::IngestCommand& command,
                                                   cli::ServerLink& server, cli::IngestOutput& output) {
  return RemoteIngest(context, command, server, output).run();
}

}  // namespace footnote::app
