#include "retrieve/mmr.h"

#include <gtest/gtest.h>

namespace footnote::retrieve {
namespace {

using Picks = std::vector<std::size_t>;
using Vectors = std::vector<std::vector<float>>;

/// Uses the cosine to `question` as similarity.
std::vector<MmrCandidate> near(const std::vector<float>& question, const Vectors& vectors) {
  std::vector<MmrCandidate> out;
  for (const auto& vector : vectors) out.push_back({cosine_of(question, vector), vector});
  return out;
}

TEST(Mmr, TheCustomaryVector) {
  const Vectors vectors{{.99F, .01F}, {.98F, .02F}, {0, 1}};
  const auto candidates = near({1, 0}, vectors);
  EXPECT_EQ(pick_diverse(candidates, 2, 0.7), (Picks{0, 2}));
}

TEST(Mmr, ZeroIsSimilarityOneIsDiversity) {
  const Vectors vectors{{1, 0}, {.9F, .1F}, {0, 1}, {.8F, .2F}};
  const auto candidates = near({1, 0}, vectors);
  EXPECT_EQ(pick_diverse(candidates, 4, 0), (Picks{0, 1, 3, 2}));
  EXPECT_EQ(pick_diverse(candidates, 2, 1), (Picks{0, 2}));
}

TEST(Mmr, TheFirstIsTheMostSimilarWhateverTheBalance) {
  const std::vector<MmrCandidate> candidates{{0.1, {}}, {0.9, {}}, {0.5, {}}};
  EXPECT_EQ(pick_diverse(candidates, 1, 1), Picks{1});
}

TEST(Mmr, EqualOnesGoByPlaceAndThereAreNoMoreThanThereAre) {
  const std::vector<MmrCandidate> candidates{{0.5, {}}, {0.5, {}}};
  EXPECT_EQ(pick_diverse(candidates, 5, 0.5), (Picks{0, 1}));
  EXPECT_EQ(pick_diverse(candidates, 0, 0.5), Picks{});
  EXPECT_EQ(pick_diverse({}, 3, 0.5), Picks{});
}

TEST(Mmr, VectorsWithoutDirectionAreLikeNoOther) {
  const std::vector<float> zero{0, 0}, one{1, 0}, longer{1, 0, 0};
  EXPECT_EQ(cosine_of(zero, one), 0);
  EXPECT_EQ(cosine_of(longer, one), 0);
  EXPECT_EQ(cosine_of({}, {}), 0);
}

}  // namespace
}  // namespace footnote::retrieve
