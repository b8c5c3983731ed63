#include "providers/local/block_reader.h"

#include <gtest/gtest.h>

#include "engine/nn/fixture_for_test.h"

namespace footnote {
namespace {

std::unique_ptr<BlockReader> open(BlockReaderOptions options = {}) {
  auto model = nn::PairReader::open(nn::testing::model_path().parent_path() / "reader", {.threads = 2});
  EXPECT_TRUE(model.has_value()) << model.error().message;
  return model ? std::make_unique<BlockReader>(*std::move(model), options) : nullptr;
}

constexpr std::string_view kLeave =
    "New parents take 16 weeks off, paid in full.\n\nThe weeks may be split.\n\n## Notice\n\nTell us early.";
constexpr std::string_view kKiln = "The kiln is fired at 1,240 degrees.\n\nIt cools for a day.";
const TextRange kLeaveBlocks[] = {{0, 44}, {46, 69}, {82, 96}};
const TextRange kKilnBlocks[] = {{0, 35}, {37, 56}};
const ReaderPassage kPassages[] = {{.text = kKiln, .blocks = kKilnBlocks},
                                   {.text = kLeave, .header = "Handbook > Parental leave", .blocks = kLeaveBlocks}};

TEST(BlockReader, QuotesTheBlockThatAnswersWithItsNeighboursUpToTheNextHeading) {
  const auto reading = open()->read({}, "How long is parental leave?", kPassages);
  ASSERT_TRUE(reading.has_value()) << reading.error().message;
  ASSERT_FALSE(reading->spans.empty());
  const ReadSpan& best = reading->spans.front();
  EXPECT_EQ(best.passage, 1U);
  EXPECT_EQ(best.range, (TextRange{0, 69}));
  ASSERT_TRUE(best.answer.has_value());
  EXPECT_EQ(kLeave.substr(best.answer->begin, best.answer->size()), "16 weeks");
  EXPECT_TRUE(best.answers_alone);
  EXPECT_GT(reading->probability.value(), .5);
}

TEST(BlockReader, ASmallQuoteIsTheBlockAlone) {
  const auto reading = open({.quote_bytes_max = 1})->read({}, "How long is parental leave?", kPassages);
  ASSERT_FALSE(reading->spans.empty());
  EXPECT_EQ(reading->spans.front().range, (TextRange{0, 44}));
}

TEST(BlockReader, TheRankingCounts) {
  std::vector<ReaderPassage> passages(std::begin(kPassages), std::end(kPassages));
  passages[0].rank_score = 2;
  const auto reading = open()->read({}, "How long is parental leave?", passages);
  ASSERT_FALSE(reading->spans.empty());
  EXPECT_EQ(reading->spans.front().passage, 0U);
}

TEST(BlockReader, WhatNothingAnswersIsUnlikely) {
  const auto foreign = open()->read({}, "Who painted the Night Watch?", kPassages);
  EXPECT_LT(foreign->probability.value(), .2);
  EXPECT_FALSE(open()->read({}, "How long is leave?", {})->probability.has_value());
}

TEST(BlockReader, TheBestOfManyIsLessLikely) {
  const auto reader = open();
  const std::string_view question = "How long is parental leave?";
  const double few = reader->read({}, {question, 9}, kPassages)->probability.value();
  const double many = reader->read({}, {question, 30'000}, kPassages)->probability.value();
  EXPECT_GT(few, many);
  EXPECT_GT(reader->read({}, question, kPassages)->probability.value(), many) << "unknown counts as typical";
}

TEST(BlockReader, MoreOfTheQuestionsWordsMakeItLikelier) {
  std::vector<ReaderPassage> passages(std::begin(kPassages), std::end(kPassages));
  const auto reader = open();
  const double before = reader->read({}, "How long is parental leave?", passages)->probability.value();
  for (ReaderPassage& passage : passages) passage.coverage = 1;
  EXPECT_GT(reader->read({}, "How long is parental leave?", passages)->probability.value(), before);
}

}  // namespace
}  // namespace footnote
