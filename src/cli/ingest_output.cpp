#include "cli/ingest_output.h"

#include <algorithm>

#include "base/json_view.h"
#include "base/text.h"

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

std::string render_no_documents(const IngestReport& report) {
  std::vector<std::string> kinds;
  kinds.reserve(report.no_documents.size());
  for (const auto& [kind, count] : report.no_documents) kinds.push_back(fmt::format("{} {}", count, kind));
  if (kinds.empty()) return {};
  return fmt::format("not read, as they are no documents: {}\n", join(kinds, ", "));
}

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

std::string render_ingest_counts(const IngestReport& report) {
  const std::string files = counted(files_of(report), "file");
  if (report.added + report.updated + report.deleted == 0) return fmt::format("nothing changed: 0 of {} embedded", files);
  return fmt::format("{}: {} added, {} updated, {} unchanged, {} deleted; {} embedded, {} reused", files, report.added, report.updated,
                     report.unchanged, report.deleted, counted(report.embedded_chunks, "chunk"), report.reused_chunks);
}

std::string render_ingest_problems(const IngestReport& report, Paint paint) {
  std::string out = styled(paint, Style::kYellow, render_kind(report, ProblemKind::kProblem, "left out")) +
                    styled(paint, Style::kYellow, render_kind(report, ProblemKind::kSecret, "with secrets, which were kept out")) +
                    render_kind(report, ProblemKind::kWarning, "taken with a remark") + render_no_documents(report);
  const bool foreign = std::any_of(report.problems.begin(), report.problems.end(),
                                   [](const Problem& problem) { return problem.reason.starts_with("another source"); });
  if (foreign) out += "Run again with --take-over to replace them, or with --prefix NAME/ to keep both.\n";
  return out;
}

Json ingest_summary_json(const IngestReport& report) {
  JsonObject no_documents;
  for (const auto& [kind, count] : report.no_documents) no_documents[kind] = count;
  return JsonObject{{"event", "summary"},
                    {"files", files_of(report)},
                    {"added", report.added},
                    {"updated", report.updated},
                    {"unchanged", report.unchanged},
                    {"deleted", report.deleted},
                    {"chunks", report.chunks},
                    {"chunks_embedded", report.embedded_chunks},
                    {"chunks_reused", report.reused_chunks},
                    {"generation", report.generation},
                    {"problems", count_kind(report, ProblemKind::kProblem)},
                    {"warnings", count_kind(report, ProblemKind::kWarning)},
                    {"secrets", count_kind(report, ProblemKind::kSecret)},
                    {"no_documents", std::move(no_documents)}};
}

int ingest_exit_code(const IngestReport& report) { return count_kind(report, ProblemKind::kProblem) == 0 ? kExitOk : kExitSomeFailed; }

IngestOutput::IngestOutput(const CommandContext& context)
    : context_(context), bar_(progress_bar("files", context.terminal)), start_(std::chrono::steady_clock::now()) {
  bar_.update(0, 0);
}

void IngestOutput::line(const Json& event) {
  if (context_.form == OutputForm::kJson) write_out(to_text(event) + "\n");
}

void IngestOutput::committed(const Json& document) {
  JsonObject event{{"event", "committed"}, {"path", text_at(document, "source_path")}};
  for (const std::string_view field : {"version", "content_hash", "chunks"}) event[field] = value_at(document, field);
  line(event);
}

void IngestOutput::deleted(std::string_view key) { line(JsonObject{{"event", "deleted"}, {"path", key}}); }

void IngestOutput::finish(const IngestReport& report) {
  bar_.clear();
  if (context_.form == OutputForm::kJson) {
    for (const Problem& problem : report.problems) line(problem_json(problem));
    line(ingest_summary_json(report));
    return;
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start_;
  write_out(fmt::format("{} ({:.1f} s)\n", render_ingest_counts(report), took.count()));
  write_out(render_ingest_problems(report, context_.terminal.out));
}

}  // namespace footnote::cli
