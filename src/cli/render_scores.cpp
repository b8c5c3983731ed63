#include "cli/render_scores.h"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include <fmt/format.h>

#include "base/json_view.h"
#include "base/text.h"
#include "cli/text_table.h"

namespace footnote::cli {
namespace {

std::string number(double value) { return fmt::format("{:.4f}", value); }

/// Names with spaces: "document limit".
std::string words(std::string_view name) {
  std::string out = printable(name);
  std::ranges::replace(out, '_', ' ');
  return out;
}

/// The stages that any candidate has a term for, in order of first occurrence.
std::vector<std::string> stages_of(const JsonArray& candidates) {
  std::vector<std::string> out;
  for (const Json& candidate : candidates) {
    for (const Json& term : array_at(candidate, "terms")) {
      const std::string stage(text_at(term, "stage"));
      if (std::ranges::find(out, stage) == out.end()) out.push_back(stage);
    }
  }
  return out;
}

/// "0.6120 +0.3363": the stage's raw score and its contribution.
std::string term_cell(const Json& candidate, std::string_view stage) {
  for (const Json& term : array_at(candidate, "terms")) {
    if (text_at(term, "stage") == stage) {
      return fmt::format("{} {:+.4f}", number(number_at(term, "raw")), number_at(term, "contribution"));
    }
  }
  return {};
}

std::string fate_cell(const Json& candidate) {
  const Json& cut = value_at(candidate, "cut");
  if (cut.is_object()) return fmt::format("{}: {}", words(text_at(cut, "stage")), words(text_at(cut, "reason")));
  return fmt::format("cited [{}]", integer_at(candidate, "number"));
}

/// Each stage's weight; all values if it differs between passages.
std::string render_weights(const JsonArray& candidates, const std::vector<std::string>& stages) {
  std::map<std::string, std::set<double>> weights;
  for (const Json& candidate : candidates) {
    for (const Json& term : array_at(candidate, "terms")) weights[std::string(text_at(term, "stage"))].insert(number_at(term, "weight"));
  }
  std::vector<std::string> parts;
  parts.reserve(stages.size());
  for (const std::string& stage : stages) parts.push_back(fmt::format("{} {:.2f}", words(stage), fmt::join(weights[stage], "/")));
  return fmt::format("weights: {} (each cell: raw score, then what it added after normalising)\n", join(parts, ", "));
}

}  // namespace

std::string path_and_place(std::string_view path, const Json& place, std::string_view line_field) {
  if (const std::int64_t line = integer_at(place, line_field); line > 0) return fmt::format("{}:{}", path, line);
  const std::string_view name = text_at(place, "place");
  return name.empty() ? std::string(path) : fmt::format("{}, {}", path, printable(name));
}

std::string render_place(const Json& candidate) {
  const std::string path = printable(text_at(candidate, "source_path"));
  if (path.empty()) return fmt::format("(chunk {}, gone)", integer_at(candidate, "chunk_id"));
  return path_and_place(path, candidate, "first_line");
}

std::string render_score_table(const JsonArray& candidates) {
  if (candidates.empty()) return {};
  const std::vector<std::string> stages = stages_of(candidates);
  const bool has_fates = std::ranges::any_of(candidates, [](const Json& candidate) { return !value_at(candidate, "rank").is_null(); });
  std::vector<TextTable::Column> columns{{"#", Align::kRight}, {"score", Align::kRight}};
  for (const std::string& stage : stages) columns.push_back({words(stage), Align::kRight});
  columns.insert(columns.end(), {{"cosine", Align::kRight}, {"coverage", Align::kRight}});
  if (has_fates) columns.push_back({"came to", Align::kLeft});
  columns.push_back({"passage", Align::kLeft});
  TextTable table(std::move(columns));
  std::size_t rank = 0;
  for (const Json& candidate : candidates) {
    std::vector<std::string> cells{fmt::format("{}", ++rank), number(number_at(candidate, "score"))};
    for (const std::string& stage : stages) cells.push_back(term_cell(candidate, stage));
    cells.push_back(number(number_at(candidate, "cosine")));
    cells.push_back(number(number_at(candidate, "coverage")));
    if (has_fates) cells.push_back(fate_cell(candidate));
    cells.push_back(render_place(candidate));
    table.add(std::move(cells));
  }
  return table.render() + render_weights(candidates, stages);
}

std::string render_vector_search(const Json& report) {
  if (!report.is_object()) return {};
  return fmt::format("vectors: plan {}, {} read, {} compared in full\n", printable(text_at(report, "plan")), integer_at(report, "scanned"),
                     integer_at(report, "rescored"));
}

std::string render_gate(const Json& gate, Paint paint) {
  const bool grounded = flag_at(gate, "grounded");
  return fmt::format("gate: {}  evidence {:.4f}, needs {:.4f} (best passage: cosine {:.4f}, coverage {:.4f})\n",
                     grounded ? styled(paint, Style::kGreen, "answerable") : styled(paint, Style::kYellow, "refuse"),
                     number_at(gate, "evidence"), number_at(gate, "threshold"), number_at(gate, "cosine"), number_at(gate, "coverage"));
}

std::string render_cuts(const JsonArray& cuts) {
  std::vector<std::string> parts;
  for (const Json& cut : cuts) {
    parts.push_back(fmt::format("{} by {} ({})", integer_at(cut, "count"), words(text_at(cut, "stage")), words(text_at(cut, "reason"))));
  }
  return parts.empty() ? std::string() : fmt::format("cut: {}\n", join(parts, ", "));
}

}  // namespace footnote::cli
