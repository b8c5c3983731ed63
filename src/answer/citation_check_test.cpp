#include "answer/citation_check.h"

#include <gtest/gtest.h>

#include "fakes/fake_embedder.h"
#include "fakes/fake_reranker.h"

namespace footnote::answer {
namespace {

constexpr std::string_view kPassage =
    "# Shipping\n\nOrders leave the house every working day. Shipping within Europe takes three days. Returns are free for 30 days.";

class CountingReranker final : public Reranker {
 public:
  Result<std::vector<Judgement>> rerank(const CallContext& call, std::string_view question,
                                        std::span<const std::string_view> passages) override {
    ++calls;
    most_passages = std::max(most_passages, passages.size());
    return next_.rerank(call, question, passages);
  }
  fakes::Faults& faults() { return next_.faults(); }
  std::size_t calls = 0;
  std::size_t most_passages = 0;

 private:
  fakes::FakeReranker next_;
};

class CitationCheckTest : public ::testing::Test {
 protected:
  SupportVerdict check(std::string_view claim, std::vector<CitedPassage> passages = {{kPassage}}) {
    const auto verdict = CitationCheck(embedder_, with_reranker_ ? &reranker_ : nullptr).check({}, claim, passages);
    EXPECT_TRUE(verdict) << verdict.error().message;
    return verdict.value_or(SupportVerdict{});
  }
  fakes::FakeEmbedder embedder_;
  CountingReranker reranker_;
  bool with_reranker_ = true;
};

TEST_F(CitationCheckTest, ASentenceOfThePassageIsSupportedAndFoundThere) {
  const SupportVerdict verdict = check("Shipping within Europe takes three days.");
  EXPECT_EQ(verdict.support, Support::kSupported);
  EXPECT_EQ(kPassage.substr(verdict.range.begin, verdict.range.size()), "Shipping within Europe takes three days.");
  EXPECT_DOUBLE_EQ(verdict.signals.word_share, 1);
  EXPECT_TRUE(verdict.signals.relevance);
}

TEST_F(CitationCheckTest, WhatThePassageDoesNotSayIsUnsupported) {
  EXPECT_EQ(check("Penguins live far in the south.").support, Support::kUnsupported);
}

TEST_F(CitationCheckTest, NoLikenessOutweighsAWrongNumber) {
  const SupportVerdict verdict = check("Shipping within Europe takes five days.");
  EXPECT_GT(support_score(verdict.signals), 0);
  EXPECT_LT(verdict.score, support_score(verdict.signals));
  EXPECT_EQ(verdict.breach, Breach::kNumber);
  EXPECT_EQ(verdict.support, Support::kUnsupported);
}

TEST_F(CitationCheckTest, TheSameSentenceDeniedIsUnsupported) {
  const SupportVerdict verdict =
      check("Refunds are possible after a month.", {{"Ask first. Refunds are not possible after a month. Call us any time."}});
  EXPECT_EQ(verdict.breach, Breach::kNegation);
  EXPECT_EQ(verdict.support, Support::kUnsupported);
}

TEST_F(CitationCheckTest, ANameOfTheTitleIsNotMadeUp) {
  const std::string_view text = "Shipping within Europe takes three days.";
  EXPECT_EQ(check("Shipping by Acme within Europe takes three days.", {{text}}).breach, Breach::kName);
  EXPECT_EQ(check("Shipping by Acme within Europe takes three days.", {{text, "Acme handbook"}}).support, Support::kSupported);
}

TEST_F(CitationCheckTest, SeveralPassagesCarryASentenceTogether) {
  const SupportVerdict verdict = check("Shipping takes three days and returns are free.",
                                       {{"Call us any time."}, {"Shipping takes three days."}, {"Returns are free."}});
  EXPECT_EQ(verdict.support, Support::kSupported);
  EXPECT_EQ(verdict.passage, 1U);
}

TEST_F(CitationCheckTest, OneCallOfEachPortHoweverLongTheEvidence) {
  std::string longer;
  for (int i = 0; i < 400; ++i) longer += "The kiln cools for a day before anyone opens it, as the rule says. ";
  longer += kPassage;
  const std::size_t before = embedder_.texts();
  EXPECT_EQ(check("Shipping within Europe takes three days.", {{longer}}).support, Support::kSupported);
  EXPECT_EQ(reranker_.calls, 1U);
  EXPECT_EQ(reranker_.most_passages, CitationCheck::kWindowsMax);
  EXPECT_EQ(embedder_.texts() - before, 1 + CitationCheck::kSentencesMax + CitationCheck::kWindowsMax);
}

TEST_F(CitationCheckTest, WithoutARerankerWordsAndVectorsDecide) {
  with_reranker_ = false;
  const SupportVerdict verdict = check("Shipping within Europe takes three days.");
  EXPECT_FALSE(verdict.signals.relevance);
  EXPECT_EQ(verdict.support, Support::kSupported);
  EXPECT_EQ(check("Penguins live far in the south.").support, Support::kUnsupported);
}

TEST_F(CitationCheckTest, ARerankerThatFailsIsAsNone) {
  reranker_.faults().fail_after(0, ErrorCode::kUnavailable);
  const SupportVerdict verdict = check("Shipping within Europe takes three days.");
  EXPECT_FALSE(verdict.signals.relevance);
  EXPECT_EQ(verdict.support, Support::kSupported);
}

TEST_F(CitationCheckTest, AnEmbedderThatFailsIsAnError) {
  embedder_.faults().fail_after(0, ErrorCode::kUnavailable);
  const CitedPassage passage{kPassage};
  EXPECT_EQ(CitationCheck(embedder_, &reranker_).check({}, "Shipping takes three days.", {&passage, 1}).error().code,
            ErrorCode::kUnavailable);
}

TEST_F(CitationCheckTest, AnEmptyPassageSupportsNothing) {
  EXPECT_EQ(check("Shipping takes three days.", {{""}}).support, Support::kUnsupported);
}

}  // namespace
}  // namespace footnote::answer
