#include "eval/run.h"

#include <cmath>
#include <numeric>
#include <random>
#include <unordered_map>

#include "base/file.h"
#include "base/json_view.h"
#include "cli/text_table.h"

namespace footnote::eval {
namespace {

constexpr std::int64_t kRunVersion = 1;
constexpr std::uint64_t kSeed = 20;
/// Rounding differences are ignored.
constexpr double kTolerance = 1e-12;

JsonObject figures_json(const std::vector<Figure>& figures) {
  JsonObject out;
  for (const Figure& figure : figures) out[figure.name] = figure.value;
  return out;
}

JsonObject stage_json(const StageRun& stage) {
  JsonArray rows;
  for (const RowFigures& row : stage.rows) {
    JsonArray cells{row.id};
    for (const double value : row.values) cells.push_back(value);
    rows.push_back(std::move(cells));
  }
  return {{"stage", stage.stage},           {"figures", figures_json(stage.figures)},
          {"ms_per_row", stage.ms_per_row}, {"metrics", JsonArray(stage.metrics.begin(), stage.metrics.end())},
          {"compared", stage.compared},     {"rows", std::move(rows)}};
}

std::unexpected<Error> not_a_run(std::string_view why) {
  return fail(ErrorCode::kInvalidArgument, "not a run that `footnote eval --save` wrote: {}", why);
}

Result<RowFigures> row_from(const Json& value, std::size_t metrics) {
  const JsonArray* cells = value.if_array();
  if (cells == nullptr || cells->size() != metrics + 1 || !cells->front().is_string()) return not_a_run("a row is damaged");
  RowFigures row{std::string(cells->front().get_string()), {}};
  for (std::size_t i = 1; i < cells->size(); ++i) {
    const Json& cell = (*cells)[i];
    if (!cell.is_number() && !cell.is_null()) return not_a_run("a row's value is not a number");
    row.values.push_back(cell.is_null() ? std::nan("") : cell.to_number<double>());
  }
  return row;
}

Result<StageRun> stage_from(const Json& value) {
  StageRun stage;
  stage.stage = text_at(value, "stage");
  stage.ms_per_row = number_at(value, "ms_per_row");
  stage.compared = static_cast<std::size_t>(std::max<std::int64_t>(0, integer_at(value, "compared")));
  if (const JsonObject* figures = value_at(value, "figures").if_object()) {
    for (const auto& [name, figure] : *figures) {
      if (figure.is_number()) stage.figures.push_back({std::string(name), figure.to_number<double>()});
    }
  }
  for (const Json& name : array_at(value, "metrics")) {
    if (name.is_string()) stage.metrics.emplace_back(name.get_string());
  }
  if (stage.stage.empty() || stage.compared > stage.metrics.size()) return not_a_run("a stage is damaged");
  for (const Json& row : array_at(value, "rows")) {
    FOOTNOTE_TRY(auto read, row_from(row, stage.metrics.size()));
    stage.rows.push_back(std::move(read));
  }
  return stage;
}

const StageRun* find_stage(const EvalRun& run, std::string_view name) {
  const auto found = std::ranges::find(run.stages, name, &StageRun::stage);
  return found == run.stages.end() ? nullptr : &*found;
}

Comparison compare_metric(const StageRun& before, const StageRun& now, std::size_t metric, std::size_t metric_before) {
  std::unordered_map<std::string_view, double> old;
  for (const RowFigures& row : before.rows) old[row.id] = row.values[metric_before];
  Comparison out{.stage = now.stage, .metric = now.metrics[metric]};
  std::vector<double> differences;
  for (const RowFigures& row : now.rows) {
    const auto found = old.find(row.id);
    if (found == old.end()) continue;
    out.before += found->second;
    out.now += row.values[metric];
    differences.push_back(row.values[metric] - found->second);
  }
  out.rows = differences.size();
  if (out.rows == 0) return out;
  out.before /= static_cast<double>(out.rows);
  out.now /= static_cast<double>(out.rows);
  out.p_value = paired_randomisation(differences);
  return out;
}

}  // namespace

std::string figure_title(std::string_view name) {
  constexpr std::pair<std::string_view, std::string_view> kTitles[] = {
      {"ndcg_10", "nDCG@10"}, {"mrr_10", "MRR@10"}, {"recall_10", "recall@10"}, {"recall_100", "recall@100"}, {"map", "MAP"},
      {"auc", "AUC"},         {"f1", "F1"},         {"found_10", "found@10"},   {"found_18", "found@18"}};
  for (const auto& [key, title] : kTitles) {
    if (key == name) return std::string(title);
  }
  std::string out(name);
  std::ranges::replace(out, '_', ' ');
  return out;
}

Result<void> save_run(const EvalRun& run, const std::filesystem::path& path) {
  JsonArray stages;
  for (const StageRun& stage : run.stages) stages.push_back(stage_json(stage));
  return write_file_atomically(path, to_text(JsonObject{{"footnote_run", kRunVersion},
                                                        {"kind", run.kind},
                                                        {"set", run.set},
                                                        {"embedder", run.embedder},
                                                        {"reranker", run.reranker},
                                                        {"rows", run.rows},
                                                        {"stages", std::move(stages)}}) +
                                         "\n");
}

Result<EvalRun> load_run(const std::filesystem::path& path) {
  FOOTNOTE_TRY(const std::string text, read_file(path, kRunFileBytesMax));
  const auto parsed = parse_json(text);
  if (!parsed) return with_context(not_a_run(parsed.error().message).error(), path.string());
  if (integer_at(*parsed, "footnote_run") != kRunVersion) return with_context(not_a_run("no such version").error(), path.string());
  EvalRun run{.kind = std::string(text_at(*parsed, "kind")),
              .set = std::string(text_at(*parsed, "set")),
              .embedder = std::string(text_at(*parsed, "embedder")),
              .reranker = std::string(text_at(*parsed, "reranker")),
              .rows = static_cast<std::size_t>(std::max<std::int64_t>(0, integer_at(*parsed, "rows"))),
              .stages = {}};
  for (const Json& value : array_at(*parsed, "stages")) {
    auto stage = stage_from(value);
    if (!stage) return with_context(std::move(stage).error(), path.string());
    run.stages.push_back(*std::move(stage));
  }
  return run;
}

JsonArray stages_json(const std::vector<StageRun>& stages) {
  JsonArray out;
  for (const StageRun& stage : stages) {
    JsonObject row{{"stage", stage.stage}, {"rows", stage.rows.size()}};
    for (const Figure& figure : stage.figures) row[figure.name] = figure.value;
    row["ms_per_row"] = stage.ms_per_row;
    out.push_back(std::move(row));
  }
  return out;
}

std::string stages_table(const std::vector<StageRun>& stages) {
  std::vector<std::string> names;
  for (const StageRun& stage : stages) {
    for (const Figure& figure : stage.figures) {
      if (std::ranges::find(names, figure.name) == names.end()) names.push_back(figure.name);
    }
  }
  std::vector<cli::TextTable::Column> columns{{"stage", cli::Align::kLeft}};
  for (const std::string& name : names) columns.push_back({figure_title(name), cli::Align::kRight});
  columns.push_back({"ms/row", cli::Align::kRight});
  cli::TextTable table(columns);
  for (const StageRun& stage : stages) {
    std::vector<std::string> cells{stage.stage};
    for (const std::string& name : names) {
      const auto found = std::ranges::find(stage.figures, name, &Figure::name);
      cells.push_back(found == stage.figures.end() ? "" : fmt::format("{:.4f}", found->value));
    }
    cells.push_back(fmt::format("{:.2f}", stage.ms_per_row));
    table.add(std::move(cells));
  }
  return table.render();
}

double paired_randomisation(const std::vector<double>& differences) {
  const double seen = std::abs(std::accumulate(differences.begin(), differences.end(), 0.0));
  std::mt19937_64 random(kSeed);
  std::size_t as_large = 0;
  for (std::size_t round = 0; round < kPermutations; ++round) {
    double sum = 0;
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i < differences.size(); ++i) {
      if (i % 64 == 0) bits = random();
      sum += (bits & 1) != 0 ? differences[i] : -differences[i];
      bits >>= 1;
    }
    if (std::abs(sum) >= seen - kTolerance) ++as_large;
  }
  return static_cast<double>(as_large + 1) / static_cast<double>(kPermutations + 1);
}

Result<std::vector<Comparison>> compare_runs(const EvalRun& before, const EvalRun& now) {
  std::vector<Comparison> out;
  for (const StageRun& stage : now.stages) {
    const StageRun* old = find_stage(before, stage.stage);
    if (old == nullptr) continue;
    for (std::size_t metric = 0; metric < stage.compared; ++metric) {
      const auto same = std::ranges::find(old->metrics, stage.metrics[metric]);
      if (same == old->metrics.end()) continue;
      Comparison row = compare_metric(*old, stage, metric, static_cast<std::size_t>(same - old->metrics.begin()));
      if (row.rows > 0) out.push_back(std::move(row));
    }
  }
  if (out.empty()) {
    return fail(ErrorCode::kInvalidArgument, "the run to compare with ({} of {}) has no stage and row in common with this one", before.kind,
                before.set);
  }
  return out;
}

JsonArray comparisons_json(const std::vector<Comparison>& comparisons) {
  JsonArray out;
  for (const Comparison& row : comparisons) {
    out.push_back(JsonObject{{"stage", row.stage},
                             {"metric", row.metric},
                             {"rows", row.rows},
                             {"before", row.before},
                             {"now", row.now},
                             {"difference", row.now - row.before},
                             {"p", row.p_value}});
  }
  return out;
}

std::string comparisons_table(const std::vector<Comparison>& comparisons) {
  cli::TextTable table({{"stage", cli::Align::kLeft},
                        {"metric", cli::Align::kLeft},
                        {"before", cli::Align::kRight},
                        {"now", cli::Align::kRight},
                        {"difference", cli::Align::kRight},
                        {"p", cli::Align::kRight}});
  for (const Comparison& row : comparisons) {
    table.add({row.stage, figure_title(row.metric), fmt::format("{:.4f}", row.before), fmt::format("{:.4f}", row.now),
               fmt::format("{:+.4f}", row.now - row.before), fmt::format("{:.4f}", row.p_value)});
  }
  return table.render();
}

}  // namespace footnote::eval
