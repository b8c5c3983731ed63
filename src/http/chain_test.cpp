#include <gtest/gtest.h>

#include "http/client.h"
#include "http/sse_parser.h"
#include "http/test_server.h"

// Browser -> server -> client -> upstream: what must be torn down when the browser disconnects.
namespace footnote::http {
namespace {

using namespace testing;

/// Forwards an upstream's stream.
StreamHandler relay(Client& client, std::uint16_t upstream_port) {
  return [&client, upstream_port](const Request&, const CallContext& call, ResponseStream& stream) {
    SseWriter* events = nullptr;
    SseParser parser;
    const ClientRequest request{Method::kGet, fmt::format("http://127.0.0.1:{}/tokens", upstream_port), {}, {}};
    const auto on_body = [&](std::string_view bytes) -> Result<void> {
      FOOTNOTE_TRY(const std::vector<SseEvent> tokens, parser.feed(bytes));
      for (const SseEvent& token : tokens) FOOTNOTE_CHECK(events->send(token.data));
      return {};
    };
    const auto on_head = [&](int, const Headers&) -> Result<void> {
      events = &stream.start_sse({});
      return {};
    };
    const auto status = client.stream(call, request, on_head, on_body);
    if (!status && events == nullptr) stream.reply(Response::text(502, "text/plain", status.error().message));
  };
}

/// Sends `count` tokens; if 0, waits until it is stopped.
Route tokens(std::atomic<int>& open, int count) {
  return streaming("/tokens", [&open, count](const Request&, const CallContext& call, ResponseStream& stream) {
    ++open;
    SseWriter& events = stream.start_sse({});
    for (int i = 0; i < count && events.send(std::to_string(i)); ++i) {
      if (count > 1000) std::this_thread::sleep_for(1ms);
    }
    if (count == 0) eventually([&] { return call.stop.stop_requested(); });
    --open;
  });
}

TEST(ChainTest, RelaysAStream) {
  Metrics metrics;
  std::atomic<int> open{0};
  TestServer upstream({tokens(open, 200)});
  Client client({}, metrics);
  TestServer server({streaming("/relay", relay(client, upstream->port()))});
  std::string expected;
  for (int i = 0; i < 200; ++i) expected += fmt::format("data: {}\n\n", i);
  EXPECT_EQ(server.ask(get("/relay")).body, expected);
  upstream.stop();
  EXPECT_EQ(server.ask(get("/relay")).status, 502);
}

TEST(ChainTest, AGoingBrowserCancelsTheUpstreamWithinASecond) {
  set_log_level(LogLevel::kOff);
  const std::size_t files = count_open_files();
  for (const int count : {1'000'000, 0}) {  // a flowing stream, and one that hangs after its head
    Metrics metrics;
    std::atomic<int> open{0};
    TestServer upstream({tokens(open, count)});
    Client client({}, metrics);
    TestServer server({streaming("/relay", relay(client, upstream->port()))});
    const std::size_t with_servers = count_open_files();
    for (int round = 0; round < 15; ++round) {
      TestSocket browser = server.connect();
      browser.send(get("/relay"));
      ASSERT_TRUE(browser.read_answer(true));
      for (int i = 0; count != 0 && i < round % 4; ++i) EXPECT_TRUE(browser.read_chunk());
      EXPECT_EQ(open, 1);
      EXPECT_EQ(metrics.gauge("footnote_upstream_calls_open", "").value(), 1);
      browser.close();
      ASSERT_TRUE(eventually([&] {
        return open == 0 && metrics.gauge("footnote_upstream_calls_open", "").value() == 0 && server.all_quiet() && upstream.all_quiet();
      })) << "round "
          << round;
      ASSERT_TRUE(eventually([&] { return count_open_files() == with_servers; })) << "round " << round;
    }
  }
  EXPECT_EQ(count_open_files(), files);
}

TEST(ChainTest, AStalledBrowserPausesTheUpstreamAndIsCut) {
  Metrics metrics;
  std::atomic<std::size_t> sent{0};
  TestServer upstream({streaming("/tokens", [&](const Request&, const CallContext&, ResponseStream& stream) {
    SseWriter& events = stream.start_sse({});
    const std::string data(1000, 'x');
    while (events.send(data)) sent += data.size();
  })});
  Client client({}, metrics);
  ServerOptions options;
  options.write_deadline = 500ms;
  TestServer server({streaming("/relay", relay(client, upstream->port()))}, std::move(options));
  TestSocket browser = server.connect(4096);
  browser.send(get("/relay"));
  EXPECT_TRUE(eventually([&] { return sent > 0; }));
  EXPECT_TRUE(eventually([&] { return server.all_quiet() && upstream.all_quiet(); }));
  EXPECT_LT(sent, 16U << 20) << "every stage in between is bounded";
  EXPECT_EQ(metrics.gauge("footnote_upstream_calls_open", "").value(), 0);
}

}  // namespace
}  // namespace footnote::http
