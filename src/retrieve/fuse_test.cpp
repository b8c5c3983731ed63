#include "retrieve/fuse.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <string>

#include "base/text.h"

namespace footnote::retrieve {
namespace {

/// "a b=0.4 c": chunks by letter; the default score is the position from the end (3 2 1) times `step`.
std::vector<ScoredChunk> parse_list(std::string_view text, double step) {
  std::vector<std::string_view> names;
  for (std::string_view name : split(trim(text), ' ')) {
    if (!name.empty()) names.push_back(name);
  }
  std::vector<ScoredChunk> out;
  for (std::string_view name : names) {
    const double score = name.size() > 2 ? std::stod(std::string(name.substr(2))) : step * static_cast<double>(names.size() - out.size());
    out.push_back({ChunkId{name[0]}, score});
  }
  return out;
}

std::string order_of(const std::vector<Candidate>& candidates) {
  std::vector<std::string> names;
  for (const Candidate& candidate : candidates) names.emplace_back(1, static_cast<char>(candidate.chunk.value));
  return join(names, " ");
}

/// Steps as large as cosines and BM25 scores typically have.
std::vector<Candidate> merge_text(std::string_view lists) {
  const auto parts = split(lists, '|');
  return merge(parse_list(trim(parts.at(0)).substr(4), 0.1), parse_list(trim(parts.at(1)).substr(4), 1.5));
}

/// Fuses the two lists and compares the order.
void check_fuse(std::string_view lists, std::string_view expected, const FusionWeights& weights = {}) {
  std::vector<Candidate> candidates = merge_text(lists);
  fuse(candidates, weights);
  EXPECT_EQ(order_of(candidates), expected) << lists;
}

TEST(Fuse, FoundByBothBeatsFoundByOne) { check_fuse("vec: a b c | key: c d", "c a b d"); }

TEST(Fuse, OneSideAloneKeepsItsOrder) {
  check_fuse("vec: c a b | key:", "c a b");
  check_fuse("vec: | key: b c a", "b c a");
  check_fuse("vec: | key:", "");
}

TEST(Fuse, ScoresCountNotRanks) {
  // b is second in both lists, with the same ranks in both lines; the margin decides.
  check_fuse("vec: a=0.35 b=0.05 c=0.0 | key: c=8.0 b=1.0", "c a b");
  check_fuse("vec: a=0.35 b=0.30 c=0.0 | key: c=8.0 b=7.0", "b c a");
}

TEST(Fuse, EqualScoresGoByChunk) {
  check_fuse("vec: b=0.5 a=0.5 c=0.5 | key:", "a b c");
  check_fuse("vec: b=0.5 a=0.5 | key: b=1 a=1", "a b");
}

TEST(Fuse, WeightsDecide) {
  check_fuse("vec: a b | key: b a", "a b", {.vector = 0.9, .keyword = 0.1});
  check_fuse("vec: a b | key: b a", "b a", {.vector = 0.1, .keyword = 0.9});
  check_fuse("vec: a b c | key: c b", "a b c", {.vector = 1, .keyword = 0});
}

TEST(Fuse, TheScoreIsTheSumOfTheContributions) {
  std::vector<Candidate> candidates = merge_text("vec: a=0.8 b=0.3 c=0.5 | key: b=9 d=3");
  fuse(candidates, {.vector = 0.55, .keyword = 0.25});
  for (const Candidate& candidate : candidates) {
    double sum = 0;
    for (const StageScore& term : candidate.terms) {
      sum += term.contribution();
      EXPECT_GE(term.normalised, 0);
      EXPECT_LE(term.normalised, 1);
    }
    EXPECT_DOUBLE_EQ(sum, candidate.score);
    EXPECT_EQ(candidate.terms[0].raw, candidate.cosine.value_or(0));
    EXPECT_EQ(candidate.terms[1].raw, candidate.keyword);
  }
}

TEST(Merge, EachChunkOnceInChunkOrder) {
  const std::vector<Candidate> merged = merge_text("vec: c=0.3 a=0.2 | key: b=7 c=8");
  EXPECT_EQ(order_of(merged), "a b c");
  EXPECT_EQ(merged[2].cosine, 0.3);
  EXPECT_EQ(merged[2].keyword, 8);
  EXPECT_EQ(merged[0].keyword, 0);
}

TEST(Standardise, CountsDistanceFromTheMeanInTheStagesOwnUnits) {
  using Numbers = std::vector<double>;
  EXPECT_EQ(standardise(Numbers{}, 1), Numbers{});
  EXPECT_EQ(standardise(Numbers{5, 5}, 1), (Numbers{0, 0})) << "a stage that tells nothing apart says nothing";
  const Numbers out = standardise(Numbers{1, 2, 3}, 0.5);
  EXPECT_DOUBLE_EQ(out[1], 0);
  EXPECT_DOUBLE_EQ(out[0], -out[2]);
  const Numbers larger = standardise(Numbers{1010, 1020, 1030}, 50);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(larger[i], out[i], 1e-12) << "neither unit nor origin matters";
}

TEST(Standardise, FewScoresLieApartByWhatScoresTypicallyDiffer) {
  using Numbers = std::vector<double>;
  const Numbers near = standardise(Numbers{0.500, 0.501}, kCosineVariance);
  EXPECT_LT(near[1] - near[0], 0.05) << "two that hardly differ stay together";
  const Numbers far = standardise(Numbers{0.2, 0.6}, kCosineVariance);
  EXPECT_GT(far[1] - far[0], 3) << "two that differ much do not";
}

TEST(Standardise, ManyScoresCountByTheirOwnSpread) {
  std::vector<double> many(5000);
  for (std::size_t i = 0; i < many.size(); ++i) many[i] = i % 2 == 0 ? 0 : 10;
  const std::vector<double> out = standardise(many, 0.01);
  EXPECT_NEAR(out[1] - out[0], 2, 0.02);
}

TEST(Standardise, TheTypicalVarianceCountsAsMuchAsItsScores) {
  const std::vector<double> values(static_cast<std::size_t>(kTypicalScores), 3.0);
  std::vector<double> half = values;
  for (std::size_t i = 0; i < half.size(); ++i) half[i] = i % 2 == 0 ? -1 : 1;  // variance 1
  EXPECT_NEAR(standardise(half, 3)[1], 1 / std::sqrt(2.0), 1e-12) << "the mean of 1 and 3 is 2";
}

TEST(Fuse, APenaltyOutweighsASmallDifferenceHoweverFewThereAre) {
  for (const std::string_view lists : {"vec: a=0.62 b=0.55 | key: a=2.0 b=1.2", "vec: a=0.62 b=0.55 c=0.1 | key: a=2.0 b=1.2"}) {
    std::vector<Candidate> candidates = merge_text(lists);
    fuse(candidates, {});
    EXPECT_EQ(order_of(candidates).substr(0, 3), "a b");
    EXPECT_LT(candidates[0].score - candidates[1].score, StatusPenalties{}.superseded) << lists;
  }
}

TEST(LogOdds, IsLimitedAtBothEnds) {
  EXPECT_DOUBLE_EQ(log_odds(0.5), 0);
  EXPECT_NEAR(log_odds(0.9), std::log(9.0), 1e-12);
  EXPECT_NEAR(log_odds(0), -kLogOddsMax, 1e-6);
  EXPECT_NEAR(log_odds(1), kLogOddsMax, 1e-6);
}

TEST(ByRank, PlacesAloneCount) {
  using Numbers = std::vector<double>;
  const Numbers out = by_rank(Numbers{0.1, 900, 0.2, 900});
  EXPECT_EQ(out[1], 1);
  EXPECT_EQ(out[3], 1) << "equal numbers share the better place";
  EXPECT_DOUBLE_EQ(out[2], 61.0 / 63);
  EXPECT_DOUBLE_EQ(out[0], 61.0 / 64);
}

TEST(Fuse, TokensDecideBetweenEquals) {
  std::vector<Candidate> candidates = merge_text("vec: a=0.8 b=0.8 c=0.8 | key:");
  candidates[1].late = 0.6;
  candidates[2].late = 0.4;
  fuse(candidates, {});
  EXPECT_EQ(order_of(candidates), "b a c") << "one that was not compared counts as the mean";
}

TEST(Fuse, RanksForgetByHowMuch) {
  for (const std::string_view lists : {"vec: a=0.9 b=0.1 c=0.0 | key: c=5.0 b=1.0", "vec: a=0.9 b=0.8 c=0.0 | key: c=5.0 b=4.0"}) {
    std::vector<Candidate> candidates = merge_text(lists);
    fuse(candidates, {}, Fusion::kRanks);
    EXPECT_EQ(order_of(candidates), "a c b") << lists;
  }
}

}  // namespace
}  // namespace footnote::retrieve
