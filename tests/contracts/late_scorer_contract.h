#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "contracts/stopped_call.h"
#include "ports/late_scorer.h"

/// What every LateScorer must do. Include in one test file of a provider and write
///   INSTANTIATE_TEST_SUITE_P(Local, LateScorerContract, ::testing::Values(LateScorerCase{"local", make}), late_scorer_case_name);
namespace footnote::contract {

/// A scorer and the store of its passages.
struct LateScorerHarness {
  virtual ~LateScorerHarness() = default;
  virtual LateScorer& scorer() = 0;
  virtual CorpusId corpus() = 0;
  virtual ChunkId put(const PassageCodes& codes) = 0;
};

struct LateScorerCase {
  std::string name;
  std::function<std::shared_ptr<LateScorerHarness>()> make;
};

inline std::string late_scorer_case_name(const ::testing::TestParamInfo<LateScorerCase>& info) { return info.param.name; }

class LateScorerContract : public ::testing::TestWithParam<LateScorerCase> {
 protected:
  static constexpr std::uint32_t kForm = 9;

  /// Tokens of eight signs: "+-++--+-" is one.
  static PassageCodes passage(const std::vector<std::string>& tokens, std::uint32_t form = kForm) {
    PassageCodes out{.form = form, .dimension = 8};
    for (const std::string& token : tokens) {
      unsigned bits = 0;
      for (unsigned i = 0; i < 8; ++i) bits |= static_cast<unsigned>(token[i] == '+') << i;
      out.signs.push_back(static_cast<std::byte>(bits));
    }
    out.windows = {static_cast<std::uint32_t>(tokens.size())};
    return out;
  }
  static QuestionCodes question(const std::vector<std::string>& tokens) {
    QuestionCodes out{.form = kForm, .dimension = 8};
    for (const std::string& token : tokens) {
      for (const char sign : token) out.tokens.push_back(sign == '+' ? 0.353553F : -0.353553F);
    }
    return out;
  }
  std::vector<std::optional<double>> score(const QuestionCodes& asked, const std::vector<ChunkId>& chunks) {
    const auto scores = harness_->scorer().score({}, harness_->corpus(), asked, chunks);
    EXPECT_TRUE(scores.has_value()) << scores.error().message;
    return scores.value_or(std::vector<std::optional<double>>{});
  }

  std::shared_ptr<LateScorerHarness> harness_ = GetParam().make();
};

TEST_P(LateScorerContract, EachTokenCountsByItsBestMatch) {
  const ChunkId both = harness_->put(passage({"++++----", "+-+-+-+-"}));
  const ChunkId one = harness_->put(passage({"++++----", "++++++++"}));
  const ChunkId none = harness_->put(passage({"++----++"}));
  const auto scores = score(question({"++++----", "+-+-+-+-"}), {none, both, one});
  ASSERT_EQ(scores.size(), 3U);
  EXPECT_NEAR(scores[0].value(), 0, 0.01);
  EXPECT_NEAR(scores[1].value(), 1, 0.01);
  EXPECT_NEAR(scores[2].value(), 0.5, 0.01);
}

TEST_P(LateScorerContract, TheBestWindowCounts) {
  PassageCodes apart = passage({"++++----", "++++----", "+-+-+-+-"});
  apart.windows = {1, 2};
  PassageCodes split = passage({"++++----", "+-+-+-+-"});
  split.windows = {1, 1};
  const auto scores = score(question({"++++----", "+-+-+-+-"}), {harness_->put(apart), harness_->put(split)});
  EXPECT_NEAR(scores[0].value(), 1, 0.01);
  EXPECT_NEAR(scores[1].value(), 0.5, 0.01) << "what stands in two windows does not stand together";
}

TEST_P(LateScorerContract, OppositesCountBelowNothing) {
  const ChunkId chunk = harness_->put(passage({"++++----"}));
  EXPECT_NEAR(score(question({"----++++"}), {chunk})[0].value(), -1, 0.01);
}

TEST_P(LateScorerContract, WhatCannotBeComparedHasNoScore) {
  const ChunkId without = harness_->put({});
  const ChunkId other = harness_->put(passage({"++++----"}, kForm + 1));
  const ChunkId right = harness_->put(passage({"++++----"}));
  const auto scores = score(question({"++++----"}), {without, other, ChunkId{987654}, right});
  EXPECT_FALSE(scores[0]);
  EXPECT_FALSE(scores[1]) << "of another form";
  EXPECT_FALSE(scores[2]) << "not there";
  EXPECT_TRUE(scores[3]);
  EXPECT_THAT(score({}, {right}), ::testing::ElementsAre(std::nullopt)) << "a question without codes";
  EXPECT_TRUE(score(question({"++++----"}), {}).empty());
}

TEST_P(LateScorerContract, AScoreDoesNotDependOnItsNeighbours) {
  const ChunkId chunk = harness_->put(passage({"++-+-+--", "+-------"}));
  const ChunkId other = harness_->put(passage({"++++++++"}));
  const QuestionCodes asked = question({"++++----", "+-+-+-+-", "-+------"});
  EXPECT_EQ(score(asked, {chunk})[0], score(asked, {other, chunk})[1]);
}

TEST_P(LateScorerContract, ACallThatIsOverEnds) {
  const ChunkId chunk = harness_->put(passage({"++++----"}));
  const ChunkId chunks[] = {chunk};
  EXPECT_EQ(harness_->scorer().score(stopped_call(), harness_->corpus(), question({"++++----"}), chunks).error().code,
            ErrorCode::kCancelled);
}

}  // namespace footnote::contract
