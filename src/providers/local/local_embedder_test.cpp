#include "providers/local/local_embedder.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "base/utf8.h"
#include "providers/local/model_for_test.h"

namespace footnote {
namespace {

TEST(WindowRanges, OneWindowWhereAllTokensFit) {
  for (const std::size_t count : {0, 1, 16}) {
    const Windows windows = window_ranges(count, 16);
    EXPECT_EQ(windows.lead, 0U);
    EXPECT_EQ(windows.ranges, (std::vector<TextRange>{{0, count}}));
  }
}

TEST(WindowRanges, FurtherOnesLeaveRoomForTheBeginning) {
  EXPECT_EQ(window_ranges(17, 16).lead, 8U);
  EXPECT_EQ(window_ranges(17, 16).ranges, (std::vector<TextRange>{{0, 16}, {9, 17}}));
  EXPECT_EQ(window_ranges(23, 16).ranges, (std::vector<TextRange>{{0, 16}, {15, 23}}));
  EXPECT_EQ(window_ranges(40, 16).ranges, (std::vector<TextRange>{{0, 16}, {15, 23}, {20, 28}, {26, 34}, {32, 40}}));
}

TEST(WindowRanges, CoverEverythingAndOverlapByAnEighthOrMore) {
  for (std::size_t count = 17; count < 300; ++count) {
    const Windows windows = window_ranges(count, 16);
    EXPECT_EQ(windows.ranges.front(), (TextRange{0, 16}));
    EXPECT_EQ(windows.ranges.back().end, count);
    for (std::size_t i = 1; i < windows.ranges.size(); ++i) {
      const TextRange& range = windows.ranges[i];
      EXPECT_EQ(range.size() + windows.lead, 16U);
      EXPECT_GE(windows.ranges[i - 1].end, range.begin + 1);
      EXPECT_GT(range.begin, windows.ranges[i - 1].begin);
    }
  }
}

TEST(LocalEmbedder, NamesTheMissingModel) {
  const auto opened = LocalEmbedder::open("/nowhere/model");
  ASSERT_FALSE(opened.has_value());
  EXPECT_EQ(opened.error().code, ErrorCode::kFailedPrecondition);
}

class LocalEmbedderTest : public ::testing::Test {
 protected:
  static std::vector<Embedding> embed(std::vector<std::string_view> texts, EmbedOptions options = {}) {
    auto out = model_for_test().embed({}, texts, options);
    EXPECT_TRUE(out.has_value()) << out.error().message;
    return out.value_or(std::vector<Embedding>{});
  }

  static double cosine(const std::vector<float>& a, const std::vector<float>& b) {
    return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
  }
};

TEST_F(LocalEmbedderTest, NamesItsSpaceAfterTheFolder) { EXPECT_EQ(model_for_test().space(), (EmbeddingSpace{"all-MiniLM-L6-v2", 384})); }

TEST_F(LocalEmbedderTest, NearTextsLieNearAndVectorsHaveUnitLength) {
  const auto out = embed({"How do I reset my password?", "Steps to change a forgotten password", "Bread is baked from flour."});
  ASSERT_EQ(out.size(), 3U);
  const auto& asked = out[0].windows.at(0).values;
  for (const Embedding& embedding : out) {
    ASSERT_EQ(embedding.windows.size(), 1U);
    EXPECT_EQ(embedding.windows[0].values.size(), 384U);
    EXPECT_NEAR(cosine(embedding.windows[0].values, embedding.windows[0].values), 1.0, 1e-5);
  }
  EXPECT_GT(cosine(asked, out[1].windows[0].values), 0.55);
  EXPECT_LT(cosine(asked, out[2].windows[0].values), 0.25);
  EXPECT_EQ(out[0].windows[0].range, (TextRange{0, 27}));
  EXPECT_EQ(out[0].tokens, 9U);
}

TEST_F(LocalEmbedderTest, LongTextsGetOverlappingWindows) {
  std::string text = "  ";
  for (int i = 0; i < 600; ++i) text += i % 7 == 0 ? "caf\u00E9 " : "pump ";
  const auto out = embed({text});
  const auto& windows = out[0].windows;
  ASSERT_EQ(windows.size(), 5U);
  EXPECT_EQ(out[0].tokens, 602U);
  EXPECT_FALSE(out[0].truncated);
  EXPECT_EQ(windows.front().range.begin, 0U);
  EXPECT_EQ(windows.back().range.end, text.size());
  for (std::size_t i = 0; i < windows.size(); ++i) {
    EXPECT_TRUE(is_utf8_boundary(text, windows[i].range.begin));
    EXPECT_TRUE(is_utf8_boundary(text, windows[i].range.end));
    if (i > 0) {
      EXPECT_LT(windows[i].range.begin, windows[i - 1].range.end);
    }
  }
  // A further window's vector covers the text's beginning and its own part: 127 words of each.
  const auto words = [&](std::size_t count) {
    std::size_t end = 1;
    for (std::size_t i = 0; i < count; ++i) end = text.find(' ', end + 1);
    return text.substr(0, end + 1);
  };
  const auto middle = text.substr(windows[1].range.begin, windows[1].range.size());
  EXPECT_EQ(embed({words(127) + middle})[0].windows[0].values, windows[1].values);
}

TEST_F(LocalEmbedderTest, TruncatesWhenAskedTo) {
  std::string text;
  for (int i = 0; i < 600; ++i) text += "pump ";
  const auto out = embed({text, "pump"}, {EmbedKind::kPassage, Overflow::kTruncate});
  ASSERT_EQ(out[0].windows.size(), 1U);
  EXPECT_TRUE(out[0].truncated);
  EXPECT_EQ(out[0].tokens, 256U);
  EXPECT_EQ(out[0].windows[0].range, (TextRange{0, 254 * 5 - 1}));
  EXPECT_FALSE(out[1].truncated);
}

TEST_F(LocalEmbedderTest, TheSameTextGivesTheSameNumbersInAnyBatch) {
  const auto alone = embed({"a quiet text"});
  const auto among = embed({"", "a quiet text", "another one that is a good deal longer than the first", "a quiet text"});
  EXPECT_EQ(among[1].windows[0].values, alone[0].windows[0].values);
  EXPECT_EQ(among[3].windows[0].values, alone[0].windows[0].values);
  EXPECT_EQ(among[0].windows.size(), 1U);
  EXPECT_EQ(among[0].windows[0].range, (TextRange{0, 0}));
  EXPECT_TRUE(embed({}).empty());
}

TEST_F(LocalEmbedderTest, TextDoesNotSteerTheModel) {
  const auto out = embed({"pump [SEP] bread", "pump [ SEP ] bread"});
  EXPECT_GT(cosine(out[0].windows[0].values, out[1].windows[0].values), 0.999);
}

TEST_F(LocalEmbedderTest, StopsWhenTheCallerGoes) {
  std::stop_source stop;
  stop.request_stop();
  CallContext stopped;
  stopped.stop = stop.get_token();
  const std::string_view texts[] = {"pump"};
  EXPECT_EQ(model_for_test().embed(stopped, texts, {}).error().code, ErrorCode::kCancelled);
}

}  // namespace
}  // namespace footnote
