#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "eval/answer_groups.h"

namespace footnote::eval {

/// A number over a whole set: "ndcg_10" .7431.
struct Figure {
  std::string name;
  double value = 0;
};

/// What one question, or one row of a set, came to: as many values as its stage names metrics.
struct RowFigures {
  std::string id;
  std::vector<double> values;
};

/// One stage over one set.
struct StageRun {
  std::string stage;
  std::vector<Figure> figures;  ///< In the order of the table's columns.
  double ms_per_row = 0;
  std::vector<std::string> metrics;  ///< Of each row.
  std::size_t compared = 0;          ///< The first so many metrics are compared with another run; the rest explain.
  std::vector<RowFigures> rows;
};

/// All that one run of `footnote eval` measured: what --save keeps and --against reads.
struct EvalRun {
  std::string kind;      ///< "retrieval", "questions", "reading", "grounding", "documentation"
  std::string set;       ///< The folder or file.
  std::string embedder;  ///< Its model.
  std::string reranker;  ///< Its name in the configuration; empty without one.
  std::size_t rows = 0;
  std::vector<StageRun> stages;
  std::vector<Figure> facts = {};        ///< What else is worth a word: "documents". Not kept.
  std::vector<AnswerGroup> groups = {};  ///< Of questions about documents. Not kept.
};

inline constexpr std::size_t kRunFileBytesMax = kJsonBytesMax;

/// {"footnote_run":1,"kind",...,"stages":[{"stage","figures":{},"ms_per_row","metrics":[],"compared","rows":[[id, value...]]}]}
Result<void> save_run(const EvalRun& run, const std::filesystem::path& path);
/// kInvalidArgument: not such a file.
Result<EvalRun> load_run(const std::filesystem::path& path);

/// "nDCG@10" for "ndcg_10": the names that people know.
std::string figure_title(std::string_view name);

/// The figures for programs: as in a saved run, without the rows.
JsonArray stages_json(const std::vector<StageRun>& stages);
/// The figures for people.
std::string stages_table(const std::vector<StageRun>& stages);

/// One metric of one stage in two runs, over the rows that both have.
struct Comparison {
  std::string stage;
  std::string metric;
  std::size_t rows = 0;
  double before = 0;
  double now = 0;
  double p_value = 1;  ///< Of a paired randomisation test, two-sided.
};

/// Every compared metric of every stage that both runs have. kInvalidArgument when they have no rows in common.
Result<std::vector<Comparison>> compare_runs(const EvalRun& before, const EvalRun& now);
JsonArray comparisons_json(const std::vector<Comparison>& comparisons);
std::string comparisons_table(const std::vector<Comparison>& comparisons);

/// How likely a mean difference at least as large as that of these pairs is if which is which were a matter of chance: signs are
/// flipped at random kPermutations times from a fixed seed, so the same differences always give the same value. Never 0.
double paired_randomisation(const std::vector<double>& differences);
inline constexpr std::size_t kPermutations = 10'000;

}  // namespace footnote::eval
