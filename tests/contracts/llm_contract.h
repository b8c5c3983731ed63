#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "ports/llm.h"

/// What every Llm must do. Include in one test file of a provider and write
///   INSTANTIATE_TEST_SUITE_P(OpenAi, LlmContract, ::testing::Values(LlmCase{"openai", ...}), llm_case_name);
namespace footnote::contract {

/// How to get a model that behaves in a certain way: for a provider, one that talks to a server of the test.
struct LlmCase {
  std::string name;
  /// Streams these pieces and ends.
  std::function<std::shared_ptr<Llm>(std::vector<std::string>)> says;
  /// Streams "one ", then fails as an upstream that breaks off does.
  std::function<std::shared_ptr<Llm>()> breaks_off;
  /// Streams "one ", then nothing more, ever.
  std::function<std::shared_ptr<Llm>()> hangs;
};

inline std::string llm_case_name(const ::testing::TestParamInfo<LlmCase>& info) { return info.param.name; }

class LlmContract : public ::testing::TestWithParam<LlmCase> {
 protected:
  static ChatRequest request() { return {.messages = {{ChatRole::kSystem, "Be brief."}, {ChatRole::kUser, "Hello?"}}}; }
  static CallContext call() { return CallContext::with_timeout(std::chrono::seconds{20}); }

  /// Streams and gathers the text.
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
  EXPECT_GE(end->prompt_tokens, 0);
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

TEST_P(LlmContract, AStoppedCallEndsWithinASecond) {
  const auto llm = GetParam().hangs();
  std::stop_source stop;
  CallContext stoppable = call();
  stoppable.stop = stop.get_token();
  std::chrono::steady_clock::time_point stopped_at;
  std::jthread stopper([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds{100});
    stopped_at = std::chrono::steady_clock::now();
    stop.request_stop();
  });
  const auto end = stream(*llm, stoppable);
  stopper.join();
  ASSERT_FALSE(end.has_value());
  EXPECT_EQ(end.error().code, ErrorCode::kCancelled);
  EXPECT_EQ(text_, "one ");
  EXPECT_LT(std::chrono::steady_clock::now() - stopped_at, std::chrono::seconds{1});
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
