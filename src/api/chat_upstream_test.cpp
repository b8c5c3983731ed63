#include "api/chat_upstream.h"

#include <gtest/gtest.h>

#include "api/error_mapping.h"
#include "base/metrics.h"

namespace footnote::api {
namespace {

TEST(ChatUpstreamTest, OwnKeysNeverLeave) {
  Metrics metrics;
  http::Client client({}, metrics);
  const ChatUpstream upstream{client, "http://models.example/v1", ""};
  http::Request request;
  request.headers = {{"authorization", "Bearer fn_owner_0123456789"},
                     {"x-api-key", "fn_live_0123456789"},
                     {"x-forwarded-key", "Basic fn_live_0123456789"},
                     {"api-key", "whatever"},
                     {"x-feature", "on"}};
  const http::ClientRequest sent = upstream_request(upstream, {}, request, "/chat/completions", "{}", AnswerUse::kRead);
  for (const auto& [name, value] : sent.headers) EXPECT_EQ(value.find("fn_"), std::string::npos) << name;
  EXPECT_FALSE(sent.headers.contains("api-key"));
  EXPECT_EQ(sent.headers.find("x-feature"), "on");
  request.headers.set("authorization", "Bearer sk-of-the-client");
  EXPECT_EQ(upstream_request(upstream, {}, request, "/x", "", AnswerUse::kRead).headers.find("authorization"), "Bearer sk-of-the-client");
}

TEST(ChatUpstreamTest, FailuresDoNotNameTheServer) {
  const Error told = upstream_failure({ErrorCode::kUnavailable, "10.0.0.7:8000 can't be reached", {}, "another server can't be reached"});
  EXPECT_EQ(shown_message(told), "the model server failed: another server can't be reached");
  EXPECT_NE(told.message.find("10.0.0.7"), std::string::npos) << "for the log";
}

}  // namespace
}  // namespace footnote::api
