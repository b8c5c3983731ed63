#pragma once

#include <chrono>
#include <string>

#include "base/json.h"
#include "cli/commands.h"
#include "cli/progress.h"
#include "ingest/report.h"

namespace footnote::cli {

/// "nothing changed: 0 of 1000 files embedded", or the numbers added, updated, deleted and embedded.
std::string render_ingest_counts(const ingest::IngestReport& report);
/// The files that were skipped or have warnings, by path with the reason; empty if none.
std::string render_ingest_problems(const ingest::IngestReport& report, Paint paint);
/// {"event":"summary", ...counts...}
Json ingest_summary_json(const ingest::IngestReport& report);
/// kExitSomeFailed if a file was skipped that should have been ingested.
int ingest_exit_code(const ingest::IngestReport& report);

/// Reports ingest progress: a bar for people, one JSON line per event for programs.
class IngestOutput {
 public:
  explicit IngestOutput(const CommandContext& context);

  /// Call only once the document is durable in the store. `document` as rendered by POST /api/kb/ingest.
  void committed(const Json& document);
  void deleted(std::string_view key);
  void progress(std::size_t done, std::size_t total, std::optional<std::chrono::seconds> left) { bar_.update(done, total, left); }
  void finish(const ingest::IngestReport& report);

 private:
  void line(const Json& event);

  const CommandContext& context_;
  ProgressBar bar_;
  const std::chrono::steady_clock::time_point start_;
};

}  // namespace footnote::cli
