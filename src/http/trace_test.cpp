#include <gtest/gtest.h>

#include "http/client.h"
#include "http/test_server.h"

namespace footnote::http {
namespace {

using namespace testing;

constexpr std::string_view kCaller = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00";

/// Returns the trace that a handler sees.
Response tell(const Request& request, const CallContext& call) {
  EXPECT_EQ(call.trace, request.trace);
  return Response::text(200, "text/plain", to_traceparent(call.trace));
}

class TraceTest : public ::testing::Test {
 protected:
  /// The trace reported by the response to a request with these headers.
  std::optional<TraceContext> reported_trace(std::string_view headers, std::string_view path = "/worker") {
    const Answer answer = server_.ask(get(path, headers));
    const std::string field = "traceparent: ";
    const std::size_t at = answer.head.find(field);
    if (at == std::string::npos) return std::nullopt;
    return parse_traceparent(std::string_view(answer.head).substr(at + field.size(), kCaller.size()));
  }

  TestServer server_{{plain(Method::kGet, "/worker", tell), plain(Method::kGet, "/inline", tell, Lane::kInline),
                      streaming("/stream", [](const Request&, const CallContext& call, ResponseStream& response) {
                        (void)response.start_sse({}).send(to_traceparent(call.trace));
                      })}};
};

TEST_F(TraceTest, AnAnswerIsASpanOfItsOwnInTheCallersTrace) {
  const TraceContext caller = parse_traceparent(kCaller).value();
  for (const std::string_view path : {"/worker", "/inline", "/stream", "/nothing"}) {
    const auto trace = reported_trace(fmt::format("TraceParent: \t{} \r\n", kCaller), path);
    ASSERT_TRUE(trace) << path;
    EXPECT_EQ(trace->trace_id, caller.trace_id) << path;
    EXPECT_EQ(trace->flags, 0) << "the caller's choice, " << path;
    EXPECT_NE(trace->span_id, caller.span_id) << path;
  }
}

TEST_F(TraceTest, TheHandlerSeesTheTraceThatTheAnswerNames) {
  const Answer answer = server_.ask(get("/worker", fmt::format("traceparent: {}\r\n", kCaller)));
  EXPECT_TRUE(answer.has(fmt::format("traceparent: {}\r\n", answer.body)));
}

TEST_F(TraceTest, WithoutAGoodCallerATraceBegins) {
  const TraceContext caller = parse_traceparent(kCaller).value();
  const std::string twice = fmt::format("traceparent: {0}\r\ntraceparent: {0}\r\n", kCaller);
  for (const std::string_view headers : {std::string_view(), std::string_view("traceparent: 00-1-2-3\r\n"), std::string_view(twice)}) {
    const auto first = reported_trace(headers), second = reported_trace(headers);
    ASSERT_TRUE(first && second) << headers;
    EXPECT_NE(first->trace_id, caller.trace_id) << headers;
    EXPECT_NE(first->trace_id, second->trace_id) << headers;
  }
  EXPECT_TRUE(server_.ask("junk\r\n\r\n").has("traceparent: 00-"));
}

TEST_F(TraceTest, AClientPassesItsCallersTraceOn) {
  Metrics metrics;
  Client client({}, metrics);
  ClientRequest request{Method::kGet, fmt::format("http://127.0.0.1:{}/worker", server_->port()), {}, {}};
  CallContext call = CallContext::with_timeout(kPatience);
  call.trace = TraceContext::fresh();
  const auto response = client.fetch(call, request);
  ASSERT_TRUE(response) << response.error().message;
  const auto seen = parse_traceparent(response->body);
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->trace_id, call.trace.trace_id);
  EXPECT_NE(seen->span_id, call.trace.span_id);

  request.headers.set("traceparent", kCaller);
  EXPECT_EQ(parse_traceparent(client.fetch(call, request)->body)->trace_id, parse_traceparent(kCaller)->trace_id)
      << "a given traceparent is kept";
  request.headers.remove("traceparent");
  const CallContext traceless = CallContext::with_timeout(kPatience);
  EXPECT_TRUE(parse_traceparent(client.fetch(traceless, request)->body)) << "the server started a trace";
}

}  // namespace
}  // namespace footnote::http
