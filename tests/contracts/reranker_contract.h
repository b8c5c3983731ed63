#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "contracts/stopped_call.h"
#include "ports/reranker.h"

/// What every Reranker must do. Include in one test file of a provider and write
///   INSTANTIATE_TEST_SUITE_P(Local, RerankerContract, ::testing::Values(RerankerCase{"local", make}), reranker_case_name);
namespace footnote::contract {

struct RerankerCase {
  std::string name;
  std::function<std::shared_ptr<Reranker>()> make;
  bool understands = true;  ///< False for a model with random weights: its output is deterministic but meaningless.
};

inline std::string reranker_case_name(const ::testing::TestParamInfo<RerankerCase>& info) { return info.param.name; }

class RerankerContract : public ::testing::TestWithParam<RerankerCase> {
 protected:
  std::vector<Judgement> rerank(std::string_view question, const std::vector<std::string_view>& passages) {
    auto scores = reranker_->rerank(call_, question, passages);
    EXPECT_TRUE(scores.has_value()) << scores.error().message;
    return scores.value_or(std::vector<Judgement>{});
  }

  const CallContext call_;
  std::shared_ptr<Reranker> reranker_ = GetParam().make();
};

TEST_P(RerankerContract, OneScorePerPassageInInputOrder) {
  const auto scores = rerank("How long does shipping take?", {"The cat sleeps.", "Shipping takes three days.", ""});
  ASSERT_EQ(scores.size(), 3U);
  if (GetParam().understands) {
    EXPECT_GT(scores[1].raw, scores[0].raw);
  }
  EXPECT_EQ(scores[1].raw > scores[0].raw, scores[1].calibrated > scores[0].calibrated);
  for (const Judgement& score : scores) {
    EXPECT_GE(score.calibrated, 0);
    EXPECT_LE(score.calibrated, 1);
  }
}

TEST_P(RerankerContract, APassagesScoreDoesNotDependOnItsNeighbours) {
  const double alone = rerank("shipping time", {"Shipping takes three days."}).at(0).raw;
  EXPECT_DOUBLE_EQ(rerank("shipping time", {"Returns are free.", "Shipping takes three days."}).at(1).raw, alone);
}

TEST_P(RerankerContract, NoPassagesNoScores) { EXPECT_TRUE(rerank("anything", {}).empty()); }

TEST_P(RerankerContract, ACallThatIsOverEnds) {
  const std::string_view passages[] = {"x"};
  EXPECT_EQ(reranker_->rerank(stopped_call(), "x", passages).error().code, ErrorCode::kCancelled);
  const auto late = CallContext::with_timeout(std::chrono::milliseconds{-1});
  EXPECT_EQ(reranker_->rerank(late, "x", passages).error().code, ErrorCode::kDeadlineExceeded);
}

TEST_P(RerankerContract, SeveralThreadsGetWhatOneGets) {
  const double expected = rerank("shipping time", {"Shipping takes three days."}).at(0).raw;
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] { EXPECT_EQ(rerank("shipping time", {"x", "Shipping takes three days."}).at(1).raw, expected); });
  }
}

}  // namespace footnote::contract
