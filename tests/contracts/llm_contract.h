#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <latch>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "contracts/stopped_call.h"
#include "ports/llm.h"

/// What every Llm must do. Include in one test file of a provider and write
///   INSTANTIATE_TEST_SUITE_P(OpenAi, LlmContract, ::testing::Values(LlmCase{"openai", ...}), llm_case_name);
namespace footnote::contract {

/// Creates models that behave in certain ways. For a provider: a client of a test server.
struct LlmCase {
  std::string name;
  /// Streams these pieces and ends.
  std::function<std::shared_ptr<Llm>(std::vector<std::string>)> says;
  /// Streams "one ", then fails like an upstream that breaks off.
  std::function<std::shared_ptr<Llm>()> breaks_off;
  /// Streams "one ", then hangs.
  std::function<std::shared_ptr<Llm>()> hangs;
  /// Does not respond at all.
  std::function<std::shared_ptr<Llm>()> is_down;
  /// Refuses because of its rate limit; its message contains kProvidersWords.
  std::function<std::shared_ptr<Llm>()> is_over_limit;
};

inline constexpr std::string_view kProvidersWords = "org-7f3a is over its quota";

inline std::string llm_case_name(const ::testing::TestParamInfo<LlmCase>& info) { return info.param.name; }

class LlmContract : public ::testing::TestWithParam<LlmCase> {
 protected:
  static ChatRequest request() { return {.messages = {{ChatRole::kSystem, "Be brief."}, {ChatRole::kUser, "Hello?"}}}; }
  static CallContext call() { return CallContext::with_timeout(std::chrono::seconds{20}); }

  /// Streams, and collects the text.
  Result<ChatEnd> stream(Llm& llm, const CallContext& call_context) {
    return llm.stream(call_context, request(), [this](std::string_view piece) -> Result<void> {
      text_ += piece;
      return {};
    });
  }

  std::string text_;
};

TEST_P(LlmContract, PiecesComeInOrderAndJoinToTheAnswer) {
  const auto llm = GetParam().says({"Hel", "lo ", "\xE2\x82\xAC [1]", " \"q\"\n", "."});
  const auto end = stream(*llm, call());
  ASSERT_TRUE(end.has_value()) << end.error().message;
  EXPECT_EQ(text_, "Hello \xE2\x82\xAC [1] \"q\"\n.");
  EXPECT_EQ(end->finish, FinishReason::kStop);
  EXPECT_FALSE(end->model.empty());
  EXPECT_GE(end->tokens.value_or(TokenCounts{}).prompt, 0);
  EXPECT_FALSE(llm->model().empty());
}

TEST_P(LlmContract, AnAnswerMayBeEmpty) {
  const auto llm = GetParam().says({});
  EXPECT_TRUE(stream(*llm, call()).has_value());
  EXPECT_EQ(text_, "");
}

TEST_P(LlmContract, TextComesOnTheCallingThread) {
  const auto llm = GetParam().says({"a", "b"});
  const auto caller = std::this_thread::get_id();
  const auto end = llm->stream(call(), request(), [&](std::string_view) -> Result<void> {
    EXPECT_EQ(std::this_thread::get_id(), caller);
    return {};
  });
  EXPECT_TRUE(end.has_value());
}

TEST_P(LlmContract, AnErrorOfTheListenerEndsTheCallWithThatError) {
  const auto llm = GetParam().says({"a", "b", "c"});
  int pieces = 0;
  const auto end = llm->stream(call(), request(), [&](std::string_view) -> Result<void> {
    ++pieces;
    return fail(ErrorCode::kPermissionDenied, "enough");
  });
  ASSERT_FALSE(end.has_value());
  EXPECT_EQ(end.error().code, ErrorCode::kPermissionDenied);
  EXPECT_EQ(pieces, 1);
}

TEST_P(LlmContract, AStreamThatBreaksOffIsUnavailableAndWhatCameIsKept) {
  const auto end = stream(*GetParam().breaks_off(), call());
  ASSERT_FALSE(end.has_value());
  EXPECT_EQ(end.error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(text_, "one ");
}

TEST_P(LlmContract, NoAnswerIsUnavailable) {
  const auto end = stream(*GetParam().is_down(), call());
  ASSERT_FALSE(end.has_value());
  EXPECT_EQ(end.error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(text_, "");
}

TEST_P(LlmContract, AReachedLimitIsToldInOurWordsAlone) {
  const auto end = stream(*GetParam().is_over_limit(), call());
  ASSERT_FALSE(end.has_value());
  EXPECT_EQ(end.error().code, ErrorCode::kResourceExhausted);
  EXPECT_FALSE(end.error().message.empty());
  EXPECT_EQ(end.error().message.find(kProvidersWords), std::string::npos);
  EXPECT_EQ(text_, "");
}

TEST_P(LlmContract, ALongAnswerArrivesWholeAtASlowListener) {
  std::vector<std::string> pieces;
  std::string expected;
  for (int i = 0; i < 2000; ++i) expected += pieces.emplace_back("piece " + std::to_string(i) + ", ");
  const auto end = GetParam().says(pieces)->stream(call(), request(), [&, calls = 0](std::string_view piece) mutable -> Result<void> {
    if (++calls % 500 == 0) std::this_thread::sleep_for(std::chrono::milliseconds{5});
    text_ += piece;
    return {};
  });
  ASSERT_TRUE(end.has_value()) << end.error().message;
  EXPECT_EQ(text_, expected);
}

/// The call's deadline is far away: if the stop does not end the call, it ends with kDeadlineExceeded.
TEST_P(LlmContract, AStopEndsARunningStream) {
  const auto llm = GetParam().hangs();
  std::stop_source stop;
  CallContext stoppable = call();
  stoppable.stop = stop.get_token();
  const auto end = llm->stream(stoppable, request(), [&](std::string_view piece) -> Result<void> {
    text_ += piece;
    if (text_ == "one ") stop.request_stop();
    return {};
  });
  ASSERT_FALSE(end.has_value());
  EXPECT_EQ(end.error().code, ErrorCode::kCancelled);
  EXPECT_EQ(text_, "one ");
}

TEST_P(LlmContract, AStopFromAnotherThreadEndsARunningStream) {
  const auto llm = GetParam().hangs();
  std::stop_source stop;
  CallContext stoppable = call();
  stoppable.stop = stop.get_token();
  std::latch told{1};
  const std::jthread stopper([&] {
    told.wait();
    stop.request_stop();
  });
  const auto end = llm->stream(stoppable, request(), [&](std::string_view piece) -> Result<void> {
    if (text_.empty()) told.count_down();
    text_ += piece;
    return {};
  });
  ASSERT_FALSE(end.has_value());
  EXPECT_EQ(end.error().code, ErrorCode::kCancelled);
  EXPECT_EQ(text_, "one ");
}

TEST_P(LlmContract, ACallThatIsOverSaysNothing) {
  const auto llm = GetParam().says({"a"});
  EXPECT_EQ(stream(*llm, stopped_call()).error().code, ErrorCode::kCancelled);
  EXPECT_EQ(stream(*llm, CallContext::with_timeout(std::chrono::milliseconds{-1})).error().code, ErrorCode::kDeadlineExceeded);
  EXPECT_EQ(text_, "");
}

TEST_P(LlmContract, TheDeadlineHolds) {
  const auto end = stream(*GetParam().hangs(), CallContext::with_timeout(std::chrono::milliseconds{200}));
  ASSERT_FALSE(end.has_value());
  EXPECT_EQ(end.error().code, ErrorCode::kDeadlineExceeded);
}

TEST_P(LlmContract, SeveralStreamsAtOnceDoNotMix) {
  const auto llm = GetParam().says({"a", "b", "c"});
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      std::string text;
      const auto end = llm->stream(call(), request(), [&](std::string_view piece) -> Result<void> {
        text += piece;
        return {};
      });
      EXPECT_TRUE(end.has_value());
      EXPECT_EQ(text, "abc");
    });
  }
}

}  // namespace footnote::contract
