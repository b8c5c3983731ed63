#include "eval/run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/temp_folder.h"

namespace footnote::eval {
namespace {

using ::testing::HasSubstr;

EvalRun run_of(std::vector<double> values) {
  StageRun stage{
      .stage = "fused", .figures = {{"ndcg_10", 0.5}}, .ms_per_row = 2, .metrics = {"ndcg_10", "note"}, .compared = 1, .rows = {}};
  for (std::size_t i = 0; i < values.size(); ++i) stage.rows.push_back({"q" + std::to_string(i), {values[i], 7}});
  return {.kind = "retrieval", .set = "set", .embedder = "m", .reranker = "", .rows = values.size(), .stages = {stage}};
}

TEST(EvalRun, ASavedRunReadsBackTheSame) {
  const test::TempFolder folder;
  const EvalRun run = run_of({0.25, 1});
  ASSERT_TRUE(save_run(run, folder.path() / "run.json"));
  const auto read = load_run(folder.path() / "run.json");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->kind, "retrieval");
  ASSERT_EQ(read->stages.size(), 1U);
  EXPECT_EQ(read->stages[0].rows[1].id, "q1");
  EXPECT_EQ(read->stages[0].rows[0].values, (std::vector<double>{0.25, 7}));
  EXPECT_EQ(read->stages[0].figures[0].name, "ndcg_10");
}

TEST(EvalRun, AnotherFileIsRefusedWithAReason) {
  const test::TempFolder folder;
  folder.write("a.json", "{}");
  folder.write("b.json", "not json");
  folder.write("c.json", R"({"footnote_run":1,"stages":[{"stage":"x","metrics":["m"],"rows":[["q"]]}]})");
  for (const char* name : {"a.json", "b.json", "c.json"}) {
    const auto read = load_run(folder.path() / name);
    ASSERT_FALSE(read) << name;
    EXPECT_EQ(read.error().code, ErrorCode::kInvalidArgument);
    EXPECT_THAT(read.error().message, HasSubstr("not a run"));
  }
  EXPECT_EQ(load_run(folder.path() / "none.json").error().code, ErrorCode::kNotFound);
}

TEST(EvalRun, ComparesTheRowsThatBothHave) {
  std::vector<double> better(40, 0.75);
  better.push_back(0);  // not in the other run
  const auto compared = compare_runs(run_of(std::vector<double>(40, 0.5)), run_of(better));
  ASSERT_TRUE(compared);
  ASSERT_EQ(compared->size(), 1U) << "informative metrics are not compared";
  EXPECT_EQ((*compared)[0].rows, 40U);
  EXPECT_DOUBLE_EQ((*compared)[0].now - (*compared)[0].before, 0.25);
  EXPECT_LT((*compared)[0].p_value, 0.001);
  EXPECT_EQ(compare_runs(run_of({}), run_of(better)).error().code, ErrorCode::kInvalidArgument);
}

TEST(PairedRandomisation, IsFixedAndTellsChanceFromDifference) {
  const std::vector<double> mixed{0.1, -0.1, 0.2, -0.2, 0.05, -0.05};
  EXPECT_GT(paired_randomisation(mixed), 0.9);
  EXPECT_EQ(paired_randomisation(mixed), paired_randomisation(mixed));
  EXPECT_DOUBLE_EQ(paired_randomisation({0, 0, 0}), 1);
  EXPECT_DOUBLE_EQ(paired_randomisation({}), 1);
  // With eight equal differences all signs must flip the same way: 2 in 256.
  EXPECT_NEAR(paired_randomisation(std::vector<double>(8, 0.3)), 2.0 / 256, 0.003);
}

TEST(EvalRun, TheTableHasAColumnForEveryFigure) {
  EvalRun run = run_of({1});
  run.stages.push_back({.stage = "answer", .figures = {{"answered", 0.9}}, .ms_per_row = 1, .metrics = {}, .rows = {}});
  const std::string table = stages_table(run.stages);
  EXPECT_THAT(table, HasSubstr("nDCG@10"));
  EXPECT_THAT(table, HasSubstr("answered"));
  EXPECT_THAT(table, HasSubstr("0.9000"));
}

}  // namespace
}  // namespace footnote::eval
