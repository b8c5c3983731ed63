#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "contracts/stopped_call.h"
#include "ports/embedder.h"

/// What every Embedder must do. Include in one test file of a provider and write
///   INSTANTIATE_TEST_SUITE_P(Local, EmbedderContract, ::testing::Values(EmbedderCase{"local", make}), embedder_case_name);
namespace footnote::contract {

/// What an embedder knows about its model; see Embedding and VectorLength.
struct EmbedderSight {
  bool tokens = true;
  bool pooled_length = true;
};

struct EmbedderCase {
  std::string name;
  /// Shared, because loading a model may take long: one instance for all tests is enough.
  std::function<std::shared_ptr<Embedder>()> make;
  EmbedderSight sight = {};
};

inline std::string embedder_case_name(const ::testing::TestParamInfo<EmbedderCase>& info) { return info.param.name; }

class EmbedderContract : public ::testing::TestWithParam<EmbedderCase> {
 protected:
  std::vector<Embedding> embed(const std::vector<std::string_view>& texts, const EmbedOptions& options = {}) {
    auto out = embedder_->embed(call_, texts, options);
    EXPECT_TRUE(out.has_value()) << out.error().message;
    return out.value_or(std::vector<Embedding>{});
  }
  std::vector<float> vector_of(std::string_view text, EmbedKind kind = EmbedKind::kPassage) {
    return embed({text}, {.kind = kind}).at(0).windows.at(0).values;
  }
  static double dot(const std::vector<float>& a, const std::vector<float>& b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += static_cast<double>(a[i]) * b[i];
    return sum;
  }
  /// Several windows of 256 tokens; short enough for a real model under a sanitizer.
  static std::string long_text() {
    std::string out;
    for (int i = 0; i < 60; ++i) out += "The crew checks the mooring mast number " + std::to_string(i) + ". ";
    return out;
  }

  const CallContext call_;
  std::shared_ptr<Embedder> embedder_ = GetParam().make();
};

TEST_P(EmbedderContract, OneUnitVectorOfTheSpacesDimensionPerShortText) {
  const auto out = embed({"Shipping takes three days.", "x", "", "\xE2\x82\xAC \xF0\x9F\x98\x80"});
  ASSERT_EQ(out.size(), 4U);
  for (const Embedding& embedding : out) {
    ASSERT_EQ(embedding.windows.size(), 1U);
    EXPECT_EQ(static_cast<int>(embedding.windows[0].values.size()), embedder_->space().dimension);
    EXPECT_NEAR(dot(embedding.windows[0].values, embedding.windows[0].values), 1.0, 1e-4);
    EXPECT_FALSE(embedding.truncated);
  }
  EXPECT_FALSE(embedder_->space().model_id.empty());
  EXPECT_EQ(out[0].windows[0].range, (TextRange{0, 26}));
}

TEST_P(EmbedderContract, NoTextsNoEmbeddings) { EXPECT_TRUE(embed({}).empty()); }

TEST_P(EmbedderContract, TheSameTextGivesTheSameNumbersAloneAndInAnyBatch) {
  const std::string long_one = long_text().substr(0, 900);
  const std::vector<float> alone = vector_of("Returns are free.");
  const auto batch = embed({long_one, "Returns are free.", "x", "Returns are free."});
  ASSERT_EQ(batch.size(), 4U);
  EXPECT_EQ(batch[1].windows[0].values, alone);
  EXPECT_EQ(batch[3].windows[0].values, alone);
}

TEST_P(EmbedderContract, TextsOfOneTopicAreNearerThanTextsOfTwo) {
  const auto question = vector_of("How long does shipping take?", EmbedKind::kQuery);
  EXPECT_GT(dot(question, vector_of("Shipping takes three days.")), dot(question, vector_of("The cat sleeps on the sofa.")) + 0.1);
}

TEST_P(EmbedderContract, ALongTextGetsOverlappingWindowsThatCoverIt) {
  const std::string text = long_text();
  const Embedding embedding = embed({text}, {.overflow = Overflow::kWindows}).at(0);
  if (!GetParam().sight.tokens) {
    ASSERT_EQ(embedding.windows.size(), 1U);
    EXPECT_EQ(embedding.windows[0].range, (TextRange{0, text.size()}));
    return;
  }
  ASSERT_GT(embedding.windows.size(), 2U);
  EXPECT_FALSE(embedding.truncated);
  EXPECT_EQ(embedding.windows.front().range.begin, 0U);
  EXPECT_GE(embedding.windows.back().range.end + 2, text.size());
  for (std::size_t i = 0; i < embedding.windows.size(); ++i) {
    const WindowVector& window = embedding.windows[i];
    EXPECT_NEAR(dot(window.values, window.values), 1.0, 1e-4);
    EXPECT_LT(window.range.begin, window.range.end);
    EXPECT_LE(window.range.end, text.size());
    if (i == 0) continue;
    EXPECT_GT(window.range.begin, embedding.windows[i - 1].range.begin);
    EXPECT_LT(window.range.begin, embedding.windows[i - 1].range.end);
  }
}

TEST_P(EmbedderContract, TruncationGivesTheFirstWindowAndSaysSo) {
  const std::string text = long_text();
  const Embedding cut = embed({text}, {.overflow = Overflow::kTruncate}).at(0);
  ASSERT_EQ(cut.windows.size(), 1U);
  EXPECT_EQ(cut.truncated, GetParam().sight.tokens);
  EXPECT_EQ(cut.windows[0].range.begin, 0U);
  if (GetParam().sight.tokens) {
    EXPECT_LT(cut.windows[0].range.end, text.size());
  }
}

TEST_P(EmbedderContract, APooledVectorPointsWhereTheUnitVectorPointsOrCantBeHad) {
  const std::string_view texts[] = {"Shipping takes three days.", "Returns are free."};
  const auto pooled = embedder_->embed(call_, texts, {.length = VectorLength::kAsPooled});
  if (!GetParam().sight.pooled_length) {
    ASSERT_FALSE(pooled.has_value());
    EXPECT_EQ(pooled.error().code, ErrorCode::kUnsupported);
    return;
  }
  ASSERT_TRUE(pooled.has_value()) << pooled.error().message;
  for (std::size_t i = 0; i < std::size(texts); ++i) {
    const std::vector<float>& values = pooled->at(i).windows.at(0).values;
    const double length = std::sqrt(dot(values, values));
    EXPECT_GT(std::abs(length - 1), 1e-3);
    EXPECT_NEAR(dot(values, vector_of(texts[i])) / length, 1.0, 1e-4);
  }
}

TEST_P(EmbedderContract, ACallThatIsOverEnds) {
  const std::string_view texts[] = {"x"};
  EXPECT_EQ(embedder_->embed(stopped_call(), texts, {}).error().code, ErrorCode::kCancelled);
  const auto late = CallContext::with_timeout(std::chrono::milliseconds{-1});
  EXPECT_EQ(embedder_->embed(late, texts, {}).error().code, ErrorCode::kDeadlineExceeded);
}

TEST_P(EmbedderContract, SeveralThreadsGetWhatOneGets) {
  const std::vector<float> expected = vector_of("Returns are free.");
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      const std::string other = "text number " + std::to_string(i);
      for (int round = 0; round < 5; ++round) EXPECT_EQ(embed({other, "Returns are free."}).at(1).windows.at(0).values, expected);
    });
  }
}

}  // namespace footnote::contract
