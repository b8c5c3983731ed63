#include "providers/remote/json_upstream.h"

#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <thread>

#include "providers/remote/upstream_for_test.h"

namespace footnote {
namespace {

using testing::TestUpstream;

CallContext patient() { return CallContext::with_timeout(std::chrono::seconds{20}); }

/// Responds with `answers` one after the other, then with 200 {"ok":true}.
struct Script {
  std::vector<http::Response> answers;
  std::atomic<std::size_t> calls = 0;

  http::Handler handler() {
    return [this](const http::Request&, const CallContext&) {
      const std::size_t call = calls++;
      return call < answers.size() ? answers[call] : http::Response::json(200, JsonObject{{"ok", true}});
    };
  }
};

http::Response status(int code, http::Headers headers = {}) {
  return {.status = code, .headers = std::move(headers), .body = "the server's own words"};
}

TEST(JsonUpstream, TriesAgainWhereThatHelpsAndOnlyThere) {
  for (const int code : {408, 429, 500, 502, 503}) {
    Script script{.answers = {status(code), status(code), status(code)}};
    TestUpstream server({{"/x", script.handler()}});
    const auto answer = JsonUpstream(server.client(), server.options()).post(patient(), "/x", JsonObject{});
    ASSERT_TRUE(answer.has_value()) << code;
    EXPECT_EQ(answer->at("ok"), true);
    EXPECT_EQ(script.calls, 4U);
  }
  for (const int code : {301, 400, 401, 403, 404, 413, 422}) {
    Script script{.answers = {status(code)}};
    TestUpstream server({{"/x", script.handler()}});
    const auto answer = JsonUpstream(server.client(), server.options()).post(patient(), "/x", JsonObject{});
    ASSERT_FALSE(answer.has_value()) << code;
    EXPECT_EQ(answer.error().code, code == 413 ? ErrorCode::kTooLarge : ErrorCode::kUnavailable);
    EXPECT_EQ(script.calls, 1U) << code;
    EXPECT_EQ(answer.error().message.find("own words"), std::string::npos);
    EXPECT_EQ(answer.error().message.find("canary"), std::string::npos);
  }
}

TEST(JsonUpstream, GivesUpAfterItsBound) {
  Script script{.answers = std::vector<http::Response>(10, status(503))};
  TestUpstream server({{"/x", script.handler()}});
  const auto answer = JsonUpstream(server.client(), server.options()).post(patient(), "/x", JsonObject{});
  EXPECT_EQ(answer.error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(script.calls, 4U);
}

TEST(JsonUpstream, AWaitThatIsTooLongOrPastTheDeadlineIsNotWaited) {
  for (const std::string_view seconds : {"31", "25"}) {  // beyond the limit; beyond the call's deadline
    Script script{.answers = {status(429, {{"retry-after", std::string(seconds)}})}};
    TestUpstream server({{"/x", script.handler()}});
    const auto answer = JsonUpstream(server.client(), server.options()).post(patient(), "/x", JsonObject{});
    ASSERT_FALSE(answer.has_value());
    EXPECT_EQ(answer.error().code, ErrorCode::kResourceExhausted);
    EXPECT_EQ(script.calls, 1U);
  }
}

TEST(JsonUpstream, ReadsTheWaitThatIsAskedFor) {
  using std::chrono::milliseconds;
  EXPECT_EQ(retry_after_of({{"retry-after", "2"}}), milliseconds{2000});
  EXPECT_EQ(retry_after_of({{"retry-after", "2"}, {"retry-after-ms", "150"}}), milliseconds{150});
  EXPECT_EQ(retry_after_of({{"retry-after", "0"}}), milliseconds{0});
  for (const char* text : {"Wed, 21 Oct 2026 07:28:00 GMT", "-1", "1.5", "", "99999999999999999999"}) {
    EXPECT_EQ(retry_after_of({{"retry-after", text}}), std::nullopt) << text;
  }
}

TEST(JsonUpstream, SendsKeyAndRequestId) {
  http::Request seen;
  TestUpstream server({{"/v1/x", [&](const http::Request& request, const CallContext&) {
                          seen = request;
                          return http::Response::json(200, JsonObject{});
                        }}});
  CallContext call = patient();
  call.request_id = "request-1";
  ASSERT_TRUE(JsonUpstream(server.client(), server.options("/v1")).post(call, "/x", JsonObject{{"a", 1}}).has_value());
  EXPECT_EQ(seen.headers.find("authorization"), "Bearer sk-canary");
  EXPECT_EQ(seen.request_id, "request-1");
  EXPECT_EQ(seen.body, R"({"a":1})");
}

TEST(JsonUpstream, NobodyThereNamesTheSetting) {
  const testing::ClosedPort port;
  TestUpstream server({});
  UpstreamOptions options = server.options();
  options.base_url = fmt::format("http://127.0.0.1:{}", port.number());
  const auto answer = JsonUpstream(server.client(), options).get(patient(), "/x");
  EXPECT_EQ(answer.error().code, ErrorCode::kUnavailable);
  EXPECT_NE(answer.error().message.find("EMBEDDER_URL"), std::string::npos) << answer.error().message;
  options.base_url = "ftp://nowhere";
  EXPECT_EQ(JsonUpstream(server.client(), options).get(patient(), "/x").error().code, ErrorCode::kFailedPrecondition);
}

TEST(JsonUpstream, WhatIsNoJsonOrTooLongIsRefused) {
  TestUpstream server(
      {{"/text", [](const http::Request&, const CallContext&) { return http::Response::text(200, "text/plain", "hello"); }},
       {"/long", [](const http::Request&,
                    const CallContext&) { return http::Response::text(200, "application/json", "\"" + std::string(5'000, 'x') + "\""); }}},
      {.response_bytes_max = 1'000});
  const JsonUpstream upstream(server.client(), server.options());
  EXPECT_EQ(upstream.post(patient(), "/text", JsonObject{}).error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(upstream.post(patient(), "/long", JsonObject{}).error().code, ErrorCode::kTooLarge);
}

/// Waits until the client disconnects; the server then stops the context.
http::Response hang(const CallContext& call) {
  std::mutex mutex;
  std::condition_variable_any stopped;
  std::unique_lock lock(mutex);
  stopped.wait_until(lock, call.stop, call.deadline, [] { return false; });
  return http::Response::json(200, JsonObject{});
}

TEST(JsonUpstream, SilenceEndsAnAttemptAndNamesTheSetting) {
  std::atomic<int> calls = 0;
  TestUpstream server({{"/x", [&](const http::Request&, const CallContext& call) {
                          ++calls;
                          return hang(call);
                        }}});
  UpstreamOptions options = server.options();
  options.timeout = std::chrono::milliseconds{20};
  options.retry.attempts_max = 2;
  const auto answer = JsonUpstream(server.client(), options).post(patient(), "/x", JsonObject{});
  EXPECT_EQ(answer.error().code, ErrorCode::kUnavailable);
  EXPECT_NE(answer.error().message.find("EMBEDDER_TIMEOUT"), std::string::npos);
  EXPECT_EQ(calls, 2);
}

TEST(JsonUpstream, ACallerThatGoesEndsTheCallAndTheWait) {
  std::atomic<bool> asked = false;
  const auto tell = [&] {
    asked = true;
    asked.notify_all();
  };
  TestUpstream server({{"/hang",
                        [&](const http::Request&, const CallContext& call) {
                          tell();
                          return hang(call);
                        }},
                       {"/busy", [&](const http::Request&, const CallContext&) {
                          tell();
                          return status(429, {{"retry-after", "15"}});
                        }}});
  for (const std::string_view path : {"/hang", "/busy"}) {
    asked = false;
    const auto gone = std::make_unique<std::stop_source>();
    CallContext call = patient();
    call.stop = gone->get_token();
    const std::jthread leaver([&] {
      asked.wait(false);
      gone->request_stop();
    });
    EXPECT_EQ(JsonUpstream(server.client(), server.options()).post(call, path, JsonObject{}).error().code, ErrorCode::kCancelled) << path;
  }
}

}  // namespace
}  // namespace footnote
