#include "bench/indexes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/source_folder.h"
#include "support/temp_folder.h"

namespace footnote::bench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::filesystem::path kEmbedded = test::source_folder() / "tests/fixtures/embeddings";

VectorRows fixture_rows(std::size_t rows = 0) {
  auto out = read_vectors(kEmbedded / "vectors.f32", 384, rows);
  EXPECT_TRUE(out) << out.error().message;
  return *std::move(out);
}

std::vector<std::string> names_of(const std::vector<BenchCase>& cases) {
  std::vector<std::string> out;
  for (const BenchCase& one : cases) out.push_back(one.name);
  return out;
}

TEST(BenchInput, ReadsWholeRowsAsFarAsAsked) {
  EXPECT_EQ(fixture_rows().count(), 200U);
  EXPECT_EQ(fixture_rows(7).values.size(), 7U * 384U);
  EXPECT_EQ(read_vectors(kEmbedded / "vectors.f32", 384, 201).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(read_vectors(kEmbedded / "vectors.f32", 383).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(read_vectors(kEmbedded / "none.f32", 384).error().code, ErrorCode::kNotFound);
}

TEST(BenchInput, ReadsTextsAndNamesTheLineOfAnError) {
  const test::TempFolder folder;
  folder.write("good.jsonl", "{\"text\":\"one\"}\n{\"text\":\"\"}\n{\"text\":\"two\",\"_id\":3}\n{\"text\":\"three\"}\n");
  EXPECT_THAT(read_texts(folder.path() / "good.jsonl", 2).value(), ElementsAre("one", "two"));
  folder.write("bad.jsonl", "{\"text\":\"one\"}\n{\"txt\":\"two\"}\n");
  const auto bad = read_texts(folder.path() / "bad.jsonl");
  ASSERT_FALSE(bad);
  EXPECT_THAT(bad.error().message, HasSubstr("bad.jsonl:2"));
}

TEST(BenchInput, TheExactScanFindsTheSameOneByOneAndAllTogether) {
  const VectorRows rows = fixture_rows();
  const auto scan = ExactScan::over(rows);
  ASSERT_TRUE(scan);
  const auto together = scan->nearest_of_each(rows, 5, [](std::size_t) { return true; });
  const auto of_tenant = scan->nearest_of_each(rows, 5, [](std::size_t row) { return kTenants[1].owns(row); });
  for (std::size_t query = 0; query < rows.count(); ++query) {
    const auto alone = scan->nearest(rows.row(query), 5);
    ASSERT_EQ(alone.size(), 5U);
    EXPECT_NEAR(alone[0].score, 1, 1e-5);
    for (std::size_t i = 0; i < alone.size(); ++i) EXPECT_NEAR(alone[i].score, together[query][i].score, 1e-5);
    for (const auto& found : of_tenant[query]) EXPECT_TRUE(kTenants[1].owns(static_cast<std::size_t>(found.label)));
  }
}

TEST(BenchCase, TellsPercentiles) {
  EXPECT_EQ(percentile({1, 2, 3, 4}, 0.5), 2);
  EXPECT_EQ(percentile({1, 2, 3, 4}, 0.99), 4);
  EXPECT_EQ(percentile({7}, 0), 7);
}

TEST(BenchIndexes, EveryVectorCaseRunsAndFindsWhatIsNearest) {
  const test::TempFolder folder;
  const auto bench = VectorBench::make({}, fixture_rows(), fixture_rows(20), folder.path());
  ASSERT_TRUE(bench) << bench.error().message;
  EXPECT_EQ((*bench)->build().rows, 200U);
  EXPECT_GT((*bench)->build().file_bytes, 0U);
  const auto cases = (*bench)->cases();
  EXPECT_THAT(names_of(cases),
              ElementsAre("scan.fp32.10", "vectors.all.10", "vectors.all.100", "vectors.filter.one-percent.10",
                          "vectors.corpus.one-percent.10", "vectors.filter.ten-percent.10", "vectors.corpus.ten-percent.10"));
  for (const BenchCase& one : cases) {
    const auto figures = measure(one, 0);
    ASSERT_TRUE(figures) << one.name << ": " << figures.error().message;
    EXPECT_EQ(figures->runs, kBenchRunsMin);
    EXPECT_LE(figures->p50_us, figures->p99_us);
    if (one.name == "scan.fp32.10") continue;  // the baseline for recall
    EXPECT_GE(figures->more.at("recall").to_number<double>(), 0.97) << one.name;
  }
}

TEST(BenchIndexes, EveryKeywordCaseRuns) {
  const test::TempFolder folder;
  const auto texts = read_texts(kEmbedded / "texts.jsonl").value();
  const auto bench = KeywordBench::make({}, texts, {"how do I reset my password", "opening hours"}, folder.path());
  ASSERT_TRUE(bench) << bench.error().message;
  EXPECT_EQ((*bench)->build().rows, texts.size());
  for (const BenchCase& one : (*bench)->cases()) EXPECT_TRUE(measure(one, 0)) << one.name;
}

}  // namespace
}  // namespace footnote::bench
