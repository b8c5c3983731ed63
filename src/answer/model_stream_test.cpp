#include "answer/model_stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <latch>

#include "fakes/fake_embedder.h"
#include "fakes/fake_reranker.h"

namespace footnote::answer {
namespace {

using ::testing::ElementsAre;

constexpr std::size_t kChunkBegin = 100;

std::vector<SourceBlock> sources() {
  SourceBlock block;
  block.number = 1;
  block.hit.chunk.id = {1};
  block.hit.chunk.text = "Shipping within Europe takes three days. Returns are free for 30 days.";
  block.hit.chunk.range = {kChunkBegin, kChunkBegin + block.hit.chunk.text.size()};
  return {block};
}

class Listener final : public TurnListener {
 public:
  Result<void> on_start(const TurnId&) override { return {}; }
  Result<void> on_sources(std::span<const SourceBlock>) override {
    EXPECT_TRUE(text.empty());
    ++announced;
    return {};
  }
  Result<void> on_text(std::string_view piece) override {
    EXPECT_EQ(announced, 1);
    text += piece;
    return {};
  }
  Result<void> on_check(const SentenceCheck& check) override {
    checked.push_back(std::string(check.support == Support::kSupported ? "yes " : "no ") +
                      text.substr(check.answer_range.begin, check.answer_range.size()));
    return {};
  }

  Result<void> on_withdraw(const Withdrawal&) override { return {}; }

  int announced = 0;
  std::string text;
  std::vector<std::string> checked;
};

/// Blocks every call until it is released.
class HeldReranker final : public Reranker {
 public:
  Result<std::vector<Judgement>> rerank(const CallContext& call, std::string_view question,
                                        std::span<const std::string_view> passages) override {
    called_.set_value();
    gate_.wait();
    return next_.rerank(call, question, passages);
  }
  /// Waits for the first call.
  void wait_for_call() { called_future_.wait(); }
  void let_go() { open_.set_value(); }

 private:
  fakes::FakeReranker next_;
  std::promise<void> open_;
  std::shared_future<void> gate_ = open_.get_future().share();
  std::promise<void> called_;
  std::future<void> called_future_ = called_.get_future();
};

class ModelStreamTest : public ::testing::Test {
 protected:
  const CallContext call_;
  const std::vector<SourceBlock> sources_ = sources();
  fakes::FakeEmbedder embedder_;
  fakes::FakeReranker reranker_;
  CheckLane lane_;
  Listener listener_;
};

TEST_F(ModelStreamTest, MarkShowsTextAtOnceAndTellsTheVerdictAfter) {
  const CitationCheck check(embedder_, &reranker_);
  ModelStream stream(call_, sources_, listener_, {&check, CheckPolicy::kMark, &lane_});
  ASSERT_TRUE(stream.take("Shipping within Europe takes three days [1]. Returns"));
  EXPECT_EQ(listener_.text, "Shipping within Europe takes three days [1]. Returns");
  ASSERT_TRUE(stream.take(" are free for 90 days [1]. Penguins live far in the south."));
  ASSERT_TRUE(stream.finish());
  EXPECT_THAT(listener_.checked,
              ::testing::UnorderedElementsAre("yes Shipping within Europe takes three days [1].", "no Returns are free for 90 days [1].",
                                              "no Penguins live far in the south."));
  ASSERT_EQ(stream.citations().size(), 2U);
  EXPECT_EQ(stream.citations()[0].support, Support::kSupported);
  EXPECT_EQ(stream.citations()[0].support_range, (TextRange{kChunkBegin, kChunkBegin + 40}));
  EXPECT_EQ(stream.citations()[1].support, Support::kUnsupported);
  EXPECT_EQ(stream.uncited().size(), 1U);
  const CheckCounts counts = *stream.counts();
  EXPECT_EQ(counts.supported, 1U);
  EXPECT_EQ(counts.unsupported, 1U);
  EXPECT_EQ(counts.uncited, 1U);
  EXPECT_EQ(counts.unchecked, 0U);
  EXPECT_FALSE(counts.without_reranker);
}

TEST_F(ModelStreamTest, ACheckThatFailsLeavesItsSentenceUnchecked) {
  embedder_.faults().fail_after(0, ErrorCode::kUnavailable);
  const CitationCheck check(embedder_, &reranker_);
  for (const CheckPolicy policy : {CheckPolicy::kMark, CheckPolicy::kDrop, CheckPolicy::kStop}) {
    Listener listener;
    ModelStream stream(call_, sources_, listener, {&check, policy, &lane_});
    ASSERT_TRUE(stream.take("Shipping takes five days [1]. Returns are free [1]."));
    ASSERT_TRUE(stream.finish());
    EXPECT_EQ(listener.text, "Shipping takes five days [1]. Returns are free [1].") << to_string(policy);
    EXPECT_EQ(stream.citations().at(0).support, Support::kUnchecked);
    EXPECT_EQ(stream.counts()->unchecked, 2U);
  }
}

TEST_F(ModelStreamTest, ASlowCheckDelaysNoText) {
  HeldReranker held;
  const CitationCheck check(embedder_, &held);
  ModelStream stream(call_, sources_, listener_, {&check, CheckPolicy::kMark, &lane_});
  ASSERT_TRUE(stream.take("Shipping within Europe takes three days [1]. Returns"));
  held.wait_for_call();
  ASSERT_TRUE(stream.take(" are free."));
  EXPECT_EQ(listener_.text, "Shipping within Europe takes three days [1]. Returns are free.");
  EXPECT_TRUE(listener_.checked.empty());
  held.let_go();
}

TEST_F(ModelStreamTest, PastTheMostThatWaitSentencesStayUnchecked) {
  HeldReranker held;
  const CitationCheck check(embedder_, &held);
  SentenceChecker checker(call_, lane_, check, sources_);
  ASSERT_TRUE(checker.push({0, "Shipping takes three days.", {1}}));
  held.wait_for_call();  // the first is running, so all others are queued
  for (std::size_t i = 1; i < SentenceChecker::kOpenMax; ++i) EXPECT_TRUE(checker.push({i, "Shipping takes three days.", {1}}));
  EXPECT_FALSE(checker.push({99, "Shipping takes three days.", {1}}));
  EXPECT_TRUE(checker.drain(std::chrono::steady_clock::now()).empty()) << "what has not begun is given up";
  held.let_go();
}

TEST_F(ModelStreamTest, WhereOthersKeepTheLaneBusyTextStreamsAndStaysUnchecked) {
  std::latch go(1);
  CheckLane lane;  // destroyed before the objects its jobs use
  const auto hold = [&] { go.wait(); };
  int others[CheckLane::kThreads + CheckLane::kWaitingMax];
  for (const int& other : std::span(others).first(CheckLane::kThreads)) ASSERT_TRUE(lane.push(&other, hold));
  for (const int& other : std::span(others).subspan(CheckLane::kThreads)) {
    while (!lane.push(&other, hold)) std::this_thread::yield();  // until the first jobs have started
  }
  const CitationCheck check(embedder_, &reranker_);
  ModelStream stream(call_, sources_, listener_, {&check, CheckPolicy::kMark, &lane});
  ASSERT_TRUE(stream.take("Shipping within Europe takes three days [1]. "));
  ASSERT_TRUE(stream.finish());
  EXPECT_EQ(listener_.text, "Shipping within Europe takes three days [1]. ");
  EXPECT_EQ(stream.counts()->unchecked, 1U);
  EXPECT_EQ(stream.citations().at(0).support, Support::kUnchecked);
  go.count_down();
}

TEST_F(ModelStreamTest, DropHoldsASentenceBackAndLeavesOutWhatIsNotCarried) {
  const CitationCheck check(embedder_, &reranker_);
  ModelStream stream(call_, sources_, listener_, {&check, CheckPolicy::kDrop});
  ASSERT_TRUE(stream.take("Shipping within Europe takes five days [1]. Returns are free"));
  EXPECT_EQ(listener_.announced, 0) << "nothing to show yet";
  ASSERT_TRUE(stream.take(" for 30 days [1]."));
  EXPECT_EQ(listener_.text, "");
  ASSERT_TRUE(stream.finish());
  EXPECT_EQ(listener_.text, "Returns are free for 30 days [1].");
  EXPECT_EQ(stream.text(), listener_.text);
  ASSERT_EQ(stream.citations().size(), 1U);
  EXPECT_EQ(stream.citations()[0].answer_range, (TextRange{0, listener_.text.size()}));
  EXPECT_EQ(stream.counts()->dropped, 1U);
}

TEST_F(ModelStreamTest, StopEndsTheModelsCall) {
  const CitationCheck check(embedder_, &reranker_);
  ModelStream stream(call_, sources_, listener_, {&check, CheckPolicy::kStop});
  ASSERT_TRUE(stream.take("Returns are free for 30 days [1]. Shipping within Europe takes five days [1]."));
  const auto ended = stream.take(" And so on.");
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().code, ErrorCode::kCancelled);
  EXPECT_TRUE(stream.stopped());
  ASSERT_TRUE(stream.finish());
  EXPECT_EQ(listener_.text, "Returns are free for 30 days [1]. ");
}

TEST_F(ModelStreamTest, AForgottenCitationIsBoundToTheSourceThatCarriesIt) {
  const CitationCheck check(embedder_, &reranker_);
  for (const CheckPolicy policy : {CheckPolicy::kMark, CheckPolicy::kDrop}) {
    Listener listener;
    ModelStream stream(call_, sources_, listener, {&check, policy, &lane_});
    ASSERT_TRUE(stream.take("Penguins live far in the south. Shipping within Europe takes three days. Returns are free for 30 days [1]."));
    ASSERT_TRUE(stream.finish());
    EXPECT_EQ(listener.text, "Penguins live far in the south. Shipping within Europe takes three days. Returns are free for 30 days [1].");
    ASSERT_EQ(stream.citations().size(), 2U) << to_string(policy);
    const Citation& bound = stream.citations()[0];
    EXPECT_TRUE(bound.is_bound);
    EXPECT_EQ(bound.number, 1);
    EXPECT_EQ(bound.support, Support::kSupported);
    EXPECT_EQ(listener.text.substr(bound.answer_range.begin, bound.answer_range.size()), "Shipping within Europe takes three days.");
    EXPECT_EQ(bound.support_range, (TextRange{kChunkBegin, kChunkBegin + 40}));
    EXPECT_FALSE(stream.citations()[1].is_bound);
    ASSERT_EQ(stream.uncited().size(), 1U);
    EXPECT_EQ(stream.counts()->bound, 1U);
    EXPECT_EQ(stream.counts()->supported, 2U);
    EXPECT_EQ(stream.counts()->uncited, 1U);
    EXPECT_EQ(stream.counts()->unchecked, 0U);
  }
}

TEST_F(ModelStreamTest, AStatementThatContradictsItsLikelySourceIsNotBound) {
  const CitationCheck check(embedder_, &reranker_);
  ModelStream stream(call_, sources_, listener_, {&check, CheckPolicy::kMark, &lane_});
  ASSERT_TRUE(stream.take("Shipping within Europe takes five days."));
  ASSERT_TRUE(stream.finish());
  EXPECT_TRUE(stream.citations().empty());
  EXPECT_EQ(stream.uncited().size(), 1U);
}

TEST_F(ModelStreamTest, OffChecksNothing) {
  const CitationCheck check(embedder_, &reranker_);
  ModelStream stream(call_, sources_, listener_, {&check, CheckPolicy::kOff});
  ASSERT_TRUE(stream.take("Shipping takes five days [1]. Penguins live far in the south."));
  ASSERT_TRUE(stream.finish());
  EXPECT_EQ(stream.citations().at(0).support, Support::kUnchecked);
  EXPECT_TRUE(stream.uncited().empty());
  EXPECT_FALSE(stream.counts());
  EXPECT_EQ(embedder_.texts(), 0U);
}

TEST_F(ModelStreamTest, CodeIsNeitherCheckedNorMissed) {
  const CitationCheck check(embedder_, &reranker_);
  ModelStream stream(call_, sources_, listener_, {&check, CheckPolicy::kMark, &lane_});
  ASSERT_TRUE(stream.take("```\nkeys rotate now please. all servers restart then.\n```\n"));
  ASSERT_TRUE(stream.finish());
  EXPECT_TRUE(stream.uncited().empty());
}

}  // namespace
}  // namespace footnote::answer
