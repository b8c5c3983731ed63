#include "providers/sqlite/sqlite_reembedding.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "providers/sqlite/store_for_test.h"

namespace footnote {
namespace {

using contract::draft_of;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const EmbeddingSpace kTarget{"next-model", 2};

class ReembeddingTest : public SqliteStoreTest {
 protected:
  void SetUp() override {
    SqliteStoreTest::SetUp();
    ASSERT_TRUE(commit({draft_of("a", {"one", "two"}), draft_of("b", {"three"})}).has_value());
  }

  SqliteReembedding reembedding() { return SqliteReembedding(*store_); }
  std::vector<SqliteReembedding::Missing> missing(ChunkId after = {}) {
    return reembedding().missing(call_, corpus_, kTarget, after, 100).value();
  }
  void put(std::size_t count) {
    std::vector<SqliteReembedding::NextVectors> next;
    for (const auto& chunk : missing()) {
      if (next.size() < count) next.push_back({chunk.chunk, {{static_cast<float>(chunk.chunk.value), 1}}});
    }
    ASSERT_TRUE(reembedding().put(call_, kTarget, next).has_value());
  }
  std::pair<std::int64_t, std::int64_t> progress() {
    const auto progress = reembedding().progress(call_, corpus_, kTarget).value();
    return {progress.done, progress.total};
  }
  EmbeddingSpace space() { return catalog().corpus(call_, corpus_).value().space; }
  /// The first number of each chunk's first vector, as an index reads it.
  std::vector<float> first_numbers() {
    std::vector<float> out;
    const auto changes = chunks().changes(call_, corpus_, 0, 100).value();
    for (const IndexRow& row : changes.added) out.push_back(row.vectors.at(0).at(0));
    return out;
  }
};

TEST_F(ReembeddingTest, TokenCodesAreMadeAnewWhereTheyHaveAnotherForm) {
  const auto before = first_numbers();
  const auto others = [&](std::uint32_t form, ChunkId after = {}, std::size_t limit = 100) {
    return reembedding().other_codes(call_, corpus_, form, after, limit).value();
  };
  const auto codes_of = [](std::uint32_t form, std::byte signs) {
    return PassageCodes{.form = form, .dimension = 8, .signs = {signs}, .windows = {1}};
  };
  EXPECT_EQ(reembedding().count_other_codes(call_, corpus_, 7), 3) << "none has codes";
  const auto found = others(7);
  ASSERT_THAT(found, SizeIs(3));
  EXPECT_EQ(found[1].text, "two");
  EXPECT_THAT(others(7, found[1].chunk), SizeIs(1));
  EXPECT_THAT(others(7, {}, 2), SizeIs(2));
  const SqliteReembedding::NextCodes first[] = {
      {found[0].chunk, codes_of(7, std::byte{1})}, {found[1].chunk, codes_of(8, std::byte{2})}, {ChunkId{4711}, codes_of(7, std::byte{3})}};
  ASSERT_TRUE(reembedding().put_codes(call_, first).has_value()) << "a missing chunk is skipped";
  EXPECT_EQ(reembedding().count_other_codes(call_, corpus_, 7), 2);
  EXPECT_EQ(others(7).front().chunk, found[1].chunk);
  const SqliteReembedding::NextCodes second[] = {{found[1].chunk, codes_of(7, std::byte{4})}};
  ASSERT_TRUE(reembedding().put_codes(call_, second).has_value());
  EXPECT_EQ(reembedding().count_other_codes(call_, corpus_, 7), 1);
  const ChunkId asked[] = {found[0].chunk, found[1].chunk, found[2].chunk};
  const auto read = chunks().passage_codes(call_, corpus_, asked).value();
  EXPECT_EQ(read[0].signs, std::vector{std::byte{1}});
  EXPECT_EQ(read[1].signs, std::vector{std::byte{4}});
  EXPECT_EQ(read[2].form, 0U);
  EXPECT_EQ(first_numbers(), before) << "vectors are kept";

  PassageCodes cut_short = codes_of(7, std::byte{5});
  cut_short.signs.clear();
  for (const PassageCodes& bad : {cut_short, PassageCodes{}}) {
    const SqliteReembedding::NextCodes third[] = {{found[0].chunk, codes_of(7, std::byte{6})}, {found[2].chunk, bad}};
    EXPECT_EQ(reembedding().put_codes(call_, third).error().code, ErrorCode::kInvalidArgument);
  }
  EXPECT_EQ(chunks().passage_codes(call_, corpus_, asked).value()[0].signs, std::vector{std::byte{1}}) << "nothing was changed";
}

TEST_F(ReembeddingTest, TheCorpusStaysAsItIsUntilAllVectorsAreThere) {
  const auto before = first_numbers();
  EXPECT_EQ(progress(), std::pair(0L, 3L));
  EXPECT_EQ(missing().at(1).text, "two");
  EXPECT_THAT(missing(missing().at(1).chunk), SizeIs(1));
  put(2);
  EXPECT_EQ(progress(), std::pair(2L, 3L));
  EXPECT_EQ(reembedding().switch_over(call_, corpus_, kTarget), false);
  EXPECT_EQ(space(), space_);
  EXPECT_EQ(first_numbers(), before);
  put(1);
  EXPECT_EQ(reembedding().switch_over(call_, corpus_, kTarget), true);
  EXPECT_EQ(space(), kTarget);
  EXPECT_EQ(first_numbers(), (std::vector<float>{1, 2, 3}));
  EXPECT_THAT(found(), IsEmpty());
  EXPECT_EQ(progress(), std::pair(0L, 3L)) << "the stored progress is deleted";
}

TEST_F(ReembeddingTest, WhatIsDoneSurvivesARestartAndWhatComesMeanwhileIsMissing) {
  put(3);
  ASSERT_TRUE(commit({draft_of("c", {"four"}), draft_of("b", {"five"})}).has_value());
  open();
  EXPECT_EQ(progress(), std::pair(3L, 5L));
  EXPECT_EQ(reembedding().switch_over(call_, corpus_, kTarget), false);
  put(2);
  EXPECT_EQ(reembedding().switch_over(call_, corpus_, kTarget), true);
  EXPECT_THAT(found(), IsEmpty());
}

TEST_F(ReembeddingTest, PurgedChunksTakeTheirVectorsAlong) {
  put(3);
  ASSERT_TRUE(commit({}, {"a"}).has_value());
  clock_.advance(std::chrono::hours{1});
  ASSERT_TRUE(chunks().purge(call_, corpus_, clock_.now()).has_value());
  EXPECT_EQ(progress(), std::pair(1L, 1L));
  const SqliteReembedding::NextVectors gone{{1}, {{1, 1}}};
  EXPECT_TRUE(reembedding().put(call_, kTarget, std::span(&gone, 1)).has_value());
  EXPECT_EQ(progress(), std::pair(1L, 1L));
}

TEST_F(ReembeddingTest, VectorsThatDoNotFitAreRefused) {
  const std::vector<std::vector<float>> bad[] = {{}, {{1}}, {{1, 2}, {1, 2, 3}}, {{1, std::numeric_limits<float>::quiet_NaN()}}};
  for (const auto& vectors : bad) {
    const SqliteReembedding::NextVectors next{{1}, vectors};
    EXPECT_EQ(reembedding().put(call_, kTarget, std::span(&next, 1)).error().code, ErrorCode::kInvalidArgument);
  }
  EXPECT_EQ(progress(), std::pair(0L, 3L));
}

TEST_F(ReembeddingTest, OtherModelsAndCorporaAreLeftAlone) {
  const CorpusId other = catalog().ensure_corpus(call_, workspace_, "other", space_).value().id;
  ASSERT_TRUE(chunks().commit(call_, other, std::vector{draft_of("a", {"elsewhere"})}, {}).has_value());
  put(3);
  const EmbeddingSpace third{"third-model", 2};
  EXPECT_EQ(reembedding().progress(call_, corpus_, third).value().done, 0);
  EXPECT_EQ(reembedding().progress(call_, other, kTarget).value().done, 0);
  EXPECT_EQ(reembedding().switch_over(call_, other, kTarget), false);
  ASSERT_TRUE(reembedding().discard(call_, other).has_value());
  EXPECT_EQ(progress(), std::pair(3L, 3L));
  ASSERT_TRUE(reembedding().discard(call_, corpus_).has_value());
  EXPECT_EQ(progress(), std::pair(0L, 3L));
}

}  // namespace
}  // namespace footnote
