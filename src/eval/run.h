#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "eval/answer_groups.h"

namespace footnote::eval {

/// A metric over a whole set: "ndcg_10" .7431.
struct Figure {
  std::string name;
  double value = 0;
};

/// Results of one question or row of a set, one value for each of its stage's metrics.
struct RowFigures {
  std::string id;
  std::vector<double> values;
};

/// One stage measured over one set.
struct StageRun {
  std::string stage;
  std::vector<Figure> figures;  ///< In the order of the table's columns.
  double ms_per_row = 0;
  std::vector<std::string> metrics;  ///< Names of the values in each row.
  std::size_t compared = 0;          ///< The first `compared` metrics are compared with another run; the rest are informative.
  std::vector<RowFigures> rows;
};

/// All results of one `footnote eval` run: written by --save, read by --against.
struct EvalRun {
  std::string kind;      ///< "retrieval", "questions", "reading", "grounding", "documentation"
  std::string set;       ///< The folder or file.
  std::string embedder;  ///< Model name.
  std::string reranker;  ///< Name in the configuration; empty without one.
  std::size_t rows = 0;
  std::vector<StageRun> stages;
  std::vector<Figure> facts = {};        ///< Further figures such as "documents". Not saved.
  std::vector<AnswerGroup> groups = {};  ///< For questions about documents. Not saved.
};

inline constexpr std::size_t kRunFileBytesMax = kJsonBytesMax;

/// {"footnote_run":1,"kind",...,"stages":[{"stage","figures":{},"ms_per_row","metrics":[],"compared","rows":[[id, value...]]}]}
Result<void> save_run(const EvalRun& run, const std::filesystem::path& path);
/// kInvalidArgument: not such a file.
Result<EvalRun> load_run(const std::filesystem::path& path);

/// "nDCG@10" for "ndcg_10": the common names.
std::string figure_title(std::string_view name);

/// The results as JSON, as in a saved run, without the rows.
JsonArray stages_json(const std::vector<StageRun>& stages);
/// The results as a table for people.
std::string stages_table(const std::vector<StageRun>& stages);

/// One metric of one stage in two runs, over the rows that both have.
struct Comparison {
  std::string stage;
  std::string metric;
  std::size_t rows = 0;
  double before = 0;
  double now = 0;
  double p_value = 1;  ///< Two-sided paired randomisation test.
};

/// Every compared metric of every stage that both runs have. kInvalidArgument if they have no rows in common.
Result<std::vector<Comparison>> compare_runs(const EvalRun& before, const EvalRun& now);
JsonArray comparisons_json(const std::vector<Comparison>& comparisons);
std::string comparisons_table(const std::vector<Comparison>& comparisons);

/// The p-value of a paired randomisation test: the probability of a mean difference at least this large if signs were random. Signs are
/// flipped kPermutations times from a fixed seed, so the result is deterministic. Never 0.
double paired_randomisation(const std::vector<double>& differences);
inline constexpr std::size_t kPermutations = 10'000;

}  // namespace footnote::eval
