#include "cli/link.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/authentication.h"
#include "base/json_view.h"
#include "cli/answer_collector.h"

namespace footnote::cli {
namespace {

using testing::ElementsAre;

/// Answers with the request that it got.
http::Response echo(const http::Request& request, const CallContext&) {
  return http::Response::json(200, JsonObject{{"id", request.param("id")},
                                              {"after", request.query_value("after").value_or("")},
                                              {"workspace", request.headers.find(api::kWorkspaceHeader).value_or("")},
                                              {"key", request.headers.find("authorization").value_or("")},
                                              {"body", request.body}});
}

http::Response refuse(const http::Request&, const CallContext&) {
  return http::Response::json(404, JsonObject{{"error", JsonObject{{"code", "not_found"}, {"message", "no such thing"}, {"field", "id"}}}});
}

void count_down(const http::Request&, const CallContext&, http::ResponseStream& response) {
  http::SseWriter& writer = response.start_sse({});
  for (const char* text : {"{\"n\":2}", "{\"n\":1}", "[DONE]"}) {
    if (!writer.send(text)) return;
  }
}

std::unique_ptr<RouterLink> make_link() {
  const auto closed = [](http::Request&) { return std::optional(http::Response::text(401, "text/plain", "no")); };
  std::vector<http::Route> routes{
      {.method = http::Method::kPost, .pattern = "/echo/{id}", .handler = http::Handler(echo)},
      {.method = http::Method::kGet, .pattern = "/nothing", .handler = http::Handler(refuse)},
      {.method = http::Method::kGet, .pattern = "/closed", .handler = http::Handler(echo), .admit = closed},
      {.method = http::Method::kPost, .pattern = "/count", .handler = http::StreamHandler(count_down)},
  };
  return RouterLink::open(std::move(routes), {"secret", "acme"}, nullptr).value();
}

TEST(RouterLink, SendsWhatAServerWouldGet) {
  const auto link = make_link();
  const auto answer = link->post({}, "/echo/a%2Fb?after=x%26y", JsonObject{{"n", 1}});
  ASSERT_TRUE(answer.has_value()) << answer.error().message;
  EXPECT_EQ(to_text(*answer), R"({"id":"a/b","after":"x&y","workspace":"acme","key":"Bearer secret","body":"{\"n\":1}"})");
}

TEST(RouterLink, AnswersThatAreNoSuccessAreErrors) {
  const auto link = make_link();
  const auto missing = link->get({}, "/nothing");
  ASSERT_FALSE(missing.has_value());
  EXPECT_EQ(missing.error().code, ErrorCode::kNotFound);
  EXPECT_EQ(missing.error().message, "no such thing");
  EXPECT_EQ(missing.error().field, "id");
  EXPECT_EQ(link->get({}, "/closed").error().message, "the answer has status 401");
  EXPECT_EQ(link->get({}, "/nowhere").error().code, ErrorCode::kNotFound);
}

TEST(RouterLink, EventsComeOneByOne) {
  const auto link = make_link();
  std::vector<std::int64_t> seen;
  const auto take = [&](const Json& event) -> Result<void> {
    seen.push_back(integer_at(event, "n"));
    return {};
  };
  ASSERT_TRUE(link->stream({}, "/count", JsonObject{}, take).has_value());
  EXPECT_THAT(seen, ElementsAre(2, 1));
  const auto stop = [](const Json&) -> Result<void> { return fail(ErrorCode::kUnavailable, "enough"); };
  EXPECT_EQ(link->stream({}, "/count", JsonObject{}, stop).error().message, "enough");
}

Json collect(std::initializer_list<std::string_view> events, std::string& shown) {
  AnswerCollector collector([&](std::string_view text) { shown += text; });
  for (const std::string_view event : events) EXPECT_TRUE(collector.take(parse_json(event).value()).has_value());
  return collector.answer();
}

TEST(AnswerCollector, AnAnswerWithItsSources) {
  std::string shown;
  const Json answer =
      collect({R"({"type":"start","messageId":"turn_1"})",
               R"({"type":"source-url","title":"Leave","providerMetadata":{"footnote":{"number":1,"sourcePath":"leave.md"}}})",
               R"({"type":"text-delta","id":"t1","delta":"26 "})", R"({"type":"text-delta","id":"t1","delta":"weeks [1]."})",
               R"({"type":"data-citations","data":[{"number":1,"line":5,"quote":"26 weeks","support":"supported"}]})",
               R"({"type":"data-confidence","data":{"confidence":91}})",
               R"({"type":"finish","messageMetadata":{"turnId":"turn_1","refusalReason":null,"latencyMs":7,"model":"m"}})"},
              shown);
  EXPECT_EQ(shown, "26 weeks [1].");
  EXPECT_EQ(to_text(answer), R"({"answer":"26 weeks [1].","citations":[{"number":1,"title":"Leave","source_path":"leave.md",)"
                             R"("marks":[{"line":5,"quote":"26 weeks","support":"supported"}]}],"confidence":91,"refusal_reason":null,)"
                             R"("meta":{"turn_id":"turn_1","latency_ms":7,"model":"m","fallback":null,"nearest":[]}})");
}

TEST(AnswerCollector, AReplacedTextIsNotTheAnswer) {
  std::string shown;
  const Json answer =
      collect({R"({"type":"source-url","title":"Other","providerMetadata":{"footnote":{"number":1,"sourcePath":"other.md"}}})",
               R"({"type":"text-delta","id":"t1","delta":"The answer is:"})", R"({"type":"text-delta","id":"t1","delta":" Withdrawn."})",
               R"({"type":"data-replace","data":{"withdrawn":"t1","by":"t2","reason":"loop"}})",
               R"({"type":"source-url","title":"Leave","providerMetadata":{"footnote":{"number":1,"sourcePath":"leave.md"}}})",
               R"({"type":"text-delta","id":"t2","delta":"26 weeks [1]."})",
               R"({"type":"finish","messageMetadata":{"turnId":"turn_1","model":null,"fallback":"loop"}})"},
              shown);
  EXPECT_EQ(shown, "The answer is: Withdrawn.\n\n26 weeks [1].");
  EXPECT_EQ(text_at(answer, "answer"), "26 weeks [1].");
  ASSERT_EQ(array_at(answer, "citations").size(), 1U);
  EXPECT_EQ(text_at(array_at(answer, "citations").at(0), "source_path"), "leave.md");
  EXPECT_EQ(text_at(value_at(answer, "meta"), "fallback"), "loop");
}

TEST(AnswerCollector, ARefusalIsNotShownAsAnAnswer) {
  std::string shown;
  const Json answer = collect(
      {R"({"type":"data-refusal","data":{"reason":"no_relevant_context","body":"Nothing.","nearest":[{"title":"T","sourcePath":"t.md"}]}})",
       R"({"type":"text-delta","id":"t1","delta":"Nothing."})",
       R"({"type":"finish","messageMetadata":{"turnId":"turn_2","refusalReason":"no_relevant_context","latencyMs":1,"model":null}})"},
      shown);
  EXPECT_EQ(shown, "");
  EXPECT_EQ(text_at(answer, "answer"), "Nothing.");
  EXPECT_EQ(text_at(answer, "refusal_reason"), "no_relevant_context");
  EXPECT_EQ(text_at(array_at(value_at(answer, "meta"), "nearest").at(0), "source_path"), "t.md");
}

TEST(AnswerCollector, AFailureIsAnError) {
  AnswerCollector collector([](std::string_view) {});
  const auto taken = collector.take(parse_json(R"({"type":"error","errorText":"model down"})").value());
  ASSERT_FALSE(taken.has_value());
  EXPECT_EQ(taken.error().message, "model down");
}

}  // namespace
}  // namespace footnote::cli
