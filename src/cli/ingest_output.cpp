#include "cli/ingest_output.h"

#include <algorithm>

namespace footnote::cli {
namespace {

using ingest::IngestReport;
using ingest::Problem;
using ingest::ProblemKind;

constexpr std::size_t kProblemsShownMax = 50;

std::size_t count_kind(const IngestReport& report, ProblemKind kind) {
  return static_cast<std::size_t>(
      std::count_if(report.problems.begin(), report.problems.end(), [&](const Problem& problem) { return problem.kind == kind; }));
}

std::string render_kind(const IngestReport& report, ProblemKind kind, std::string_view heading) {
  const std::size_t count = count_kind(report, kind);
  if (count == 0) return {};
  std::string out = fmt::format("{} {}:\n", count, heading);
  std::size_t shown = 0;
  for (const Problem& problem : report.problems) {
    if (problem.kind != kind || shown == kProblemsShownMax) continue;
    out += fmt::format("  {}: {}\n", printable(problem.path), printable(problem.reason));
    ++shown;
  }
  if (shown < count) out += fmt::format("  ... and {} more; --json lists all\n", count - shown);
  return out;
}

std::size_t files_of(const IngestReport& report) { return report.added + report.updated + report.unchanged; }

std::string counted(std::size_t count, std::string_view noun) { return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s"); }

std::string_view event_of(ProblemKind kind) {
  switch (kind) {
    case ProblemKind::kProblem: return "problem";
    case ProblemKind::kSecret: return "secret";
    case ProblemKind::kIgnored:
    case ProblemKind::kWarning: return "warning";
  }
  return "warning";
}

Json problem_json(const Problem& problem) {
  return JsonObject{{"event", event_of(problem.kind)}, {"path", problem.path}, {"reason", problem.reason}};
}

}  // namespace

std::string render_ingest_counts(const IngestSummary& summary) {
  const IngestReport& report = summary.report;
  const std::string through = summary.server_url.empty() ? "" : fmt::format(", through the server at {}", summary.server_url);
  const std::string files = counted(files_of(report), "file");
  if (report.added + report.updated + report.deleted == 0) return fmt::format("nothing changed: 0 of {} embedded{}", files, through);
  if (!summary.server_url.empty()) {
    return fmt::format("{}: {} indexed, {} unchanged, {} deleted{}", files, report.updated, report.unchanged, report.deleted, through);
  }
  return fmt::format("{}: {} added, {} updated, {} unchanged, {} deleted; {} embedded, {} reused", files, report.added, report.updated,
                     report.unchanged, report.deleted, counted(report.embedded_chunks, "chunk"), report.reused_chunks);
}

std::string render_ingest_problems(const IngestReport& report, Paint paint) {
  std::string out = styled(paint, Style::kYellow, render_kind(report, ProblemKind::kProblem, "left out")) +
                    styled(paint, Style::kYellow, render_kind(report, ProblemKind::kSecret, "with secrets, which were kept out")) +
                    render_kind(report, ProblemKind::kWarning, "taken with a remark");
  const bool foreign = std::any_of(report.problems.begin(), report.problems.end(),
                                   [](const Problem& problem) { return problem.reason.starts_with("another source"); });
  if (foreign) out += "Run again with --take-over to replace them, or with --prefix NAME/ to keep both.\n";
  return out;
}

Json ingest_summary_json(const IngestSummary& summary) {
  const IngestReport& report = summary.report;
  JsonObject out{{"event", "summary"}, {"files", files_of(report)}, {"unchanged", report.unchanged}, {"deleted", report.deleted}};
  if (summary.server_url.empty()) {
    out["added"] = report.added;
    out["updated"] = report.updated;
    out["chunks"] = report.chunks;
    out["chunks_embedded"] = report.embedded_chunks;
    out["chunks_reused"] = report.reused_chunks;
  } else {
    out["indexed"] = report.updated;
    out["server"] = summary.server_url;
  }
  out["generation"] = report.generation;
  out["problems"] = count_kind(report, ProblemKind::kProblem);
  out["warnings"] = count_kind(report, ProblemKind::kWarning);
  out["secrets"] = count_kind(report, ProblemKind::kSecret);
  return out;
}

int ingest_exit_code(const IngestReport& report) { return count_kind(report, ProblemKind::kProblem) == 0 ? kExitOk : kExitSomeFailed; }

IngestOutput::IngestOutput(const CommandContext& context)
    : context_(context),
      bar_("files", context.terminal.width,
           context.terminal.progress ? ProgressBar::Write([](std::string_view text) { write_err(text); }) : ProgressBar::Write()),
      start_(std::chrono::steady_clock::now()) {
  bar_.update(0, 0);
}

void IngestOutput::line(const Json& event) {
  if (context_.form == OutputForm::kJson) write_out(to_text(event) + "\n");
}

void IngestOutput::committed(std::string_view key, const Document* document) {
  JsonObject event{{"event", "committed"}, {"path", key}};
  if (document != nullptr) {
    event["version"] = document->version;
    event["content_hash"] = document->content_hash;
    event["chunks"] = document->chunk_count;
  }
  line(event);
}

void IngestOutput::deleted(std::string_view key) { line(JsonObject{{"event", "deleted"}, {"path", key}}); }

void IngestOutput::finish(const IngestSummary& summary) {
  bar_.clear();
  if (context_.form == OutputForm::kJson) {
    for (const Problem& problem : summary.report.problems) line(problem_json(problem));
    line(ingest_summary_json(summary));
    return;
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start_;
  write_out(fmt::format("{} ({:.1f} s)\n", render_ingest_counts(summary), took.count()));
  write_out(render_ingest_problems(summary.report, context_.terminal.out));
}

}  // namespace footnote::cli
