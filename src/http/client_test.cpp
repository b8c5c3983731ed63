#include "http/client.h"

#include <gtest/gtest.h>

#include <latch>

#include "http/test_server.h"

namespace footnote::http {
namespace {

using namespace testing;

class ClientTest : public ::testing::Test {
 protected:
  Client& client(ClientOptions options = {}) {
    client_ = std::make_unique<Client>(std::move(options), metrics_);
    return *client_;
  }
  std::int64_t calls_open() { return metrics_.gauge("footnote_upstream_calls_open", "").value(); }
  static ClientRequest to(std::uint16_t port, std::string_view path = "/") {
    return {Method::kGet, fmt::format("http://127.0.0.1:{}{}", port, path), {}, {}};
  }

  /// The result of a fetch whose upstream sends exactly these bytes.
  Result<Response> fetch_scripted(std::string_view answer, ClientOptions options = {}, Method method = Method::kGet) {
    TestListener listener;
    std::thread upstream([&] {
      TestSocket socket = listener.accept();
      socket.read_until("\r\n\r\n");
      socket.send(answer);
    });
    ClientRequest request = to(listener.port());
    request.method = method;
    Result<Response> response = client(std::move(options)).fetch(CallContext::with_timeout(kPatience), request);
    upstream.join();
    return response;
  }

  Metrics metrics_;
  std::unique_ptr<Client> client_;
};

TEST_F(ClientTest, FetchesFromAServer) {
  TestServer server({plain(Method::kPost, "/echo", [](const Request& request, const CallContext&) {
    Response response = Response::text(201, "text/x", request.body);
    response.headers.add("x-host", request.headers.find("host").value_or(""));
    response.headers.add("x-own", request.headers.find("x-own").value_or(""));
    return response;
  })});
  ClientRequest request = to(server->port(), "/echo?x=1");
  request.method = Method::kPost;
  request.headers = {{"X-Own", "mine"}, {"Content-Length", "7777"}, {"Host", "evil"}};
  client();
  for (const std::size_t size : {0, 5, 100'000}) {
    request.body = std::string(size, 'b');
    const Result<Response> response = client_->fetch(CallContext::with_timeout(kPatience), request);
    ASSERT_TRUE(response) << response.error().message;
    EXPECT_EQ(response->status, 201);
    EXPECT_EQ(response->body, request.body);
    EXPECT_EQ(response->headers.find("x-own"), "mine");
    EXPECT_EQ(response->headers.find("x-host"), fmt::format("127.0.0.1:{}", server->port()));
  }
  EXPECT_EQ(calls_open(), 0);
}

TEST_F(ClientTest, CountsCallsByTheirEnd) {
  const auto counted = [&](std::string_view code) {
    return metrics_.counter("footnote_upstream_requests_total", "", {{"provider", "model"}, {"code", std::string(code)}}).value();
  };
  (void)fetch_scripted("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", {.name = "model"});
  (void)fetch_scripted("HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n", {.name = "model"});
  (void)fetch_scripted("HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\nbroken off", {.name = "model"});
  (void)fetch_scripted("nonsense\r\n\r\n", {.name = "model"});
  EXPECT_EQ(counted("200"), 1u);
  EXPECT_EQ(counted("503"), 1u);
  EXPECT_EQ(counted("unavailable"), 2u);
  TestServer server({plain(Method::kGet, "/", [](const Request&, const CallContext&) { return Response{429, {}, "no"}; })});
  const auto refuse = [](int, const Headers&) -> Result<void> { return fail(ErrorCode::kResourceExhausted, "refused"); };
  EXPECT_FALSE(client({.name = "model"}).stream(CallContext::with_timeout(kPatience), to(server->port()), refuse, {}));
  EXPECT_EQ(counted("429"), 1u) << "even if the caller turns it into an error";
  const std::uint16_t nobody = TestListener().port();
  EXPECT_FALSE(client_->fetch(CallContext::with_timeout(kPatience), to(nobody)));
  EXPECT_EQ(counted("unavailable"), 3u);
}

TEST_F(ClientTest, ReusesConnectionsWithinItsBound) {
  TestServer server({plain(Method::kGet, "/", [](const Request&, const CallContext&) { return Response::text(200, "text/plain", "x"); })});
  ClientOptions options;
  options.idle_connections_max = 1;
  options.idle_time_max = 100ms;
  client(std::move(options));
  const auto connections = [&] { return server.gauge("footnote_http_connections_open"); };
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(client_->fetch(CallContext::with_timeout(kPatience), to(server->port())));
    EXPECT_EQ(connections(), 1);
  }
  EXPECT_TRUE(eventually([&] { return connections() == 0; })) << "idle connections are closed";
  ASSERT_TRUE(client_->fetch(CallContext::with_timeout(kPatience), to(server->port())));
  server.stop();
  EXPECT_FALSE(client_->fetch(CallContext::with_timeout(kPatience), {Method::kGet, "http://127.0.0.1:1/", {}, {}}));
}

TEST_F(ClientTest, AsksAgainWhenAPooledConnectionWasClosedUnderWay) {
  TestListener listener;
  std::thread upstream([&] {
    TestSocket first = listener.accept();
    first.read_until("\r\n\r\n");
    first.send("HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\n1");
    first.read_until("\r\n\r\n");
    first.close();  // the second request on this connection is never answered
    TestSocket second = listener.accept();
    second.read_until("\r\n\r\n");
    second.send("HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\n2");
  });
  client();
  EXPECT_EQ(client_->fetch(CallContext::with_timeout(kPatience), to(listener.port()))->body, "1");
  EXPECT_EQ(client_->fetch(CallContext::with_timeout(kPatience), to(listener.port()))->body, "2");
  upstream.join();
}

TEST_F(ClientTest, ReadsEveryFraming) {
  EXPECT_EQ(fetch_scripted("HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nabc")->body, "abc");
  EXPECT_EQ(fetch_scripted("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n")->body, "abcde");
  EXPECT_EQ(fetch_scripted("HTTP/1.1 200 OK\r\n\r\nuntil the end")->body, "until the end");
  EXPECT_EQ(fetch_scripted("HTTP/1.0 404 Not Found\r\n\r\n")->status, 404);
  EXPECT_EQ(fetch_scripted("HTTP/1.1 204 No Content\r\n\r\n")->status, 204);
  EXPECT_EQ(fetch_scripted(
                "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\nx")
                ->body,
            "x");
  EXPECT_EQ(fetch_scripted("HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n", {}, Method::kHead)->status, 200);
  const auto redirect = fetch_scripted("HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n");
  EXPECT_EQ(redirect->status, 302);
}

TEST_F(ClientTest, NamesUpstreamFaults) {
  for (const std::string_view answer : {"", "nonsense\r\n\r\n", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc",
                                        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n",
                                        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n"}) {
    const Result<Response> response = fetch_scripted(answer);
    ASSERT_FALSE(response) << answer;
    EXPECT_EQ(response.error().code, ErrorCode::kUnavailable) << answer;
    EXPECT_NE(response.error().message.find("127.0.0.1:"), std::string::npos) << response.error().message;
  }
  EXPECT_EQ(calls_open(), 0);
}

TEST_F(ClientTest, BoundsWhatItReads) {
  ClientOptions options;
  options.response_bytes_max = 1000;
  options.header_bytes_max = 512;
  const auto answer = [](std::size_t size) {
    return fmt::format("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{}", size, std::string(size, 'x'));
  };
  EXPECT_EQ(fetch_scripted(answer(1000), options)->body.size(), 1000U);
  EXPECT_EQ(fetch_scripted(answer(1001), options).error().code, ErrorCode::kTooLarge);
  EXPECT_EQ(fetch_scripted("HTTP/1.1 200 OK\r\n\r\n" + std::string(1001, 'x'), options).error().code, ErrorCode::kTooLarge);
  const auto head_of = [](std::size_t size) {
    const std::string start = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\nx: ";
    return start + std::string(size - start.size() - 4, 'x') + "\r\n\r\n";
  };
  EXPECT_EQ(fetch_scripted(head_of(512), options)->status, 200);
  EXPECT_EQ(fetch_scripted(head_of(513), options).error().code, ErrorCode::kTooLarge);
  EXPECT_EQ(fetch_scripted(head_of(5130), options).error().code, ErrorCode::kTooLarge);
}

TEST_F(ClientTest, BoundsInterimAnswers) {
  const auto after = [](int count) {
    std::string out;
    for (int i = 0; i < count; ++i) out += "HTTP/1.1 100 Continue\r\n\r\n";
    return out + "HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\nx";
  };
  EXPECT_EQ(fetch_scripted(after(8))->body, "x");
  EXPECT_EQ(fetch_scripted(after(9)).error().code, ErrorCode::kUnavailable);
}

TEST_F(ClientTest, RefusesBadRequests) {
  const CallContext call = CallContext::with_timeout(kPatience);
  client();
  EXPECT_EQ(client_->fetch(call, {Method::kGet, "ftp://h/", {}, {}}).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(client_->fetch(call, {Method::kGet, "http://h/", {{"a", "b\r\nc: d"}}, {}}).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(client_->fetch(call, {Method::kGet, "http://h/", {{"a b", "c"}}, {}}).error().code, ErrorCode::kInvalidArgument);
  CallContext late;
  late.deadline = std::chrono::steady_clock::now() - 1s;
  EXPECT_EQ(client_->fetch(late, {Method::kGet, "http://h/", {}, {}}).error().code, ErrorCode::kDeadlineExceeded);
}

TEST_F(ClientTest, SaysWhereItCouldNotConnect) {
  TestListener listener;
  const std::uint16_t port = listener.port();
  listener.close();
  const auto refused = client().fetch(CallContext::with_timeout(kPatience), to(port));
  EXPECT_EQ(refused.error().code, ErrorCode::kUnavailable);
  EXPECT_NE(refused.error().message.find(fmt::format("127.0.0.1:{}", port)), std::string::npos) << refused.error().message;
  const auto unknown = client_->fetch(CallContext::with_timeout(2s), {Method::kGet, "http://no-such-host.invalid/", {}, {}});
  ASSERT_FALSE(unknown);
  EXPECT_TRUE(unknown.error().code == ErrorCode::kUnavailable || unknown.error().code == ErrorCode::kDeadlineExceeded);
}

TEST_F(ClientTest, FindsHostsByName) {
  TestServer server({plain(Method::kGet, "/", [](const Request&, const CallContext&) { return Response::text(200, "text/plain", "x"); })});
  const auto response =
      client().fetch(CallContext::with_timeout(kPatience), {Method::kGet, fmt::format("http://localhost:{}/", server->port()), {}, {}});
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(response->body, "x");
}

TEST_F(ClientTest, DeadlineStopAndSilenceCloseTheSocketAtOnce) {
  TestListener listener;
  ClientOptions options;
  options.silence_timeout = 150ms;
  client(std::move(options));
  std::stop_source stop;
  const CallContext by_deadline = CallContext::with_timeout(50ms);
  CallContext by_stop = CallContext::with_timeout(kPatience);
  by_stop.stop = stop.get_token();
  const CallContext by_silence = CallContext::with_timeout(kPatience);
  const std::pair<const CallContext*, ErrorCode> cases[] = {
      {&by_deadline, ErrorCode::kDeadlineExceeded}, {&by_stop, ErrorCode::kCancelled}, {&by_silence, ErrorCode::kUnavailable}};
  for (const auto& [context, code] : cases) {
    for (const std::string_view start : {"", "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nabc"}) {
      CallContext call = *context;
      if (code == ErrorCode::kDeadlineExceeded) call = CallContext::with_timeout(50ms);
      if (code == ErrorCode::kCancelled) {
        stop = std::stop_source();
        call.stop = stop.get_token();
      }
      bool closed = false;
      std::thread upstream([&] {
        TestSocket socket = listener.accept();
        socket.read_until("\r\n\r\n");
        socket.send(start);
        if (code == ErrorCode::kCancelled) stop.request_stop();
        closed = socket.wait_closed(1s);
      });
      EXPECT_EQ(client_->fetch(call, to(listener.port())).error().code, code);
      upstream.join();
      EXPECT_TRUE(closed);
    }
  }
  EXPECT_EQ(calls_open(), 0);
}

TEST_F(ClientTest, StreamsOnTheCallersThread) {
  TestServer server({streaming("/events", [](const Request&, const CallContext&, ResponseStream& stream) {
    SseWriter& events = stream.start_sse({});
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(events.send(std::to_string(i)));
  })});
  const auto here = std::this_thread::get_id();
  std::string seen;
  const auto status = client().stream(
      CallContext::with_timeout(kPatience), to(server->port(), "/events"),
      [&](int code, const Headers& headers) -> Result<void> {
        EXPECT_EQ(std::this_thread::get_id(), here);
        seen = fmt::format("{} {} ", code, headers.find("content-type").value_or(""));
        return {};
      },
      [&](std::string_view bytes) -> Result<void> {
        EXPECT_EQ(std::this_thread::get_id(), here);
        seen += bytes;
        return {};
      });
  EXPECT_EQ(status.value(), 200);
  EXPECT_EQ(seen, "200 text/event-stream data: 0\n\ndata: 1\n\ndata: 2\n\n");
}

TEST_F(ClientTest, AConsumersErrorEndsTheCall) {
  TestServer server({streaming("/events", [](const Request&, const CallContext&, ResponseStream& stream) {
    SseWriter& events = stream.start_sse({});
    while (events.send("x")) {
    }
  })});
  const auto fine = [](auto&&...) -> Result<void> { return {}; };
  const auto bad = [](auto&&...) -> Result<void> { return fail(ErrorCode::kCorrupted, "enough"); };
  const auto throws = [](std::string_view) -> Result<void> { throw std::runtime_error("oops"); };
  const CallContext call = CallContext::with_timeout(kPatience);
  client();
  EXPECT_EQ(client_->stream(call, to(server->port(), "/events"), bad, fine).error().code, ErrorCode::kCorrupted);
  EXPECT_EQ(client_->stream(call, to(server->port(), "/events"), fine, bad).error().code, ErrorCode::kCorrupted);
  EXPECT_EQ(client_->stream(call, to(server->port(), "/events"), fine, throws).error().code, ErrorCode::kInternal);
  EXPECT_TRUE(eventually([&] { return server.all_quiet(); }));
}

TEST_F(ClientTest, ASlowConsumerPausesTheUpstream) {
  std::atomic<std::size_t> sent{0};
  std::latch go(1);
  constexpr std::size_t kTotal = 8 << 20;
  TestServer server({streaming("/events", [&](const Request&, const CallContext&, ResponseStream& stream) {
    SseWriter& events = stream.start_sse({});
    const std::string data(8184, 'x');
    while (sent < kTotal && events.send(data)) sent += 8192;
  })});
  std::size_t received = 0;
  std::size_t largest = 0;
  std::thread watcher([&] {
    std::size_t before = 0;
    // Paused: nothing more was sent for a while.
    EXPECT_TRUE(eventually([&] {
      std::this_thread::sleep_for(50ms);
      return std::exchange(before, sent.load()) == sent && sent > 0;
    }));
    EXPECT_LT(sent, kTotal);
    go.count_down();
  });
  const auto status = client().stream(CallContext::with_timeout(kPatience), to(server->port(), "/events"), nullptr,
                                      [&](std::string_view bytes) -> Result<void> {
                                        go.wait();
                                        received += bytes.size();
                                        largest = std::max(largest, bytes.size());
                                        return {};
                                      });
  watcher.join();
  EXPECT_EQ(status.value(), 200);
  EXPECT_EQ(received, kTotal);
  EXPECT_LE(largest, kHandOverBytesMax);
}

TEST_F(ClientTest, ServesManyCallersAtOnce) {
  TestServer server({plain(Method::kPost, "/echo", echo)});
  client();
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 8; ++caller) {
    callers.emplace_back([&, caller] {
      for (int i = 0; i < 25; ++i) {
        ClientRequest request = to(server->port(), "/echo");
        request.method = Method::kPost;
        request.body = fmt::format("{} {}", caller, i);
        const auto response = client_->fetch(CallContext::with_timeout(kPatience), request);
        ASSERT_TRUE(response) << response.error().message;
        EXPECT_EQ(response->body, request.body);
      }
    });
  }
  for (std::thread& thread : callers) thread.join();
  EXPECT_EQ(calls_open(), 0);
}

TEST_F(ClientTest, ALimitOfTheRequestGoesBeforeTheClients) {
  TestServer server({plain(Method::kGet, "/",
                           [](const Request&, const CallContext&) { return Response::text(200, "text/plain", std::string(1001, 'x')); })});
  client({.response_bytes_max = 1'000});
  ClientRequest request = to(server->port());
  EXPECT_EQ(client_->fetch(CallContext::with_timeout(kPatience), request).error().code, ErrorCode::kTooLarge);
  request.response_bytes_max = 1'001;
  EXPECT_TRUE(client_->fetch(CallContext::with_timeout(kPatience), request));
}

TEST_F(ClientTest, AnUpstreamThatFailsAgainAndAgainIsLeftAlone) {
  std::atomic<int> status{503};
  std::atomic<int> asked{0};
  TestServer server({plain(Method::kGet, "/", [&](const Request&, const CallContext&) {
    ++asked;
    return Response::text(status, "text/plain", "");
  })});
  client({.breaker = {.failures_max = 3, .rest_time = 50ms}});
  const auto fetch = [&] { return client_->fetch(CallContext::with_timeout(kPatience), to(server->port())); };
  status = 404;  // a 404 is about one request, not about the service
  for (int i = 0; i < 5; ++i) EXPECT_EQ(fetch()->status, 404);
  for (const int failure : {500, 503, 529}) {
    status = failure;
    EXPECT_EQ(fetch()->status, failure);
  }
  const int before = asked;
  const auto refused = fetch();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(asked, before);
  status = 200;
  EXPECT_TRUE(eventually([&] { return fetch().has_value(); })) << "after rest_time one call probes it";
  EXPECT_TRUE(fetch());
}

TEST_F(ClientTest, FailedConnectsCountAndAConsumersErrorDoesNot) {
  const std::uint16_t nobody = TestListener().port();
  client({.connect_attempts = 2, .breaker = {.failures_max = 2, .rest_time = 60s}});
  const auto message_of = [&] { return client_->fetch(CallContext::with_timeout(kPatience), to(nobody)).error().message; };
  for (int i = 0; i < 2; ++i) EXPECT_NE(message_of().find("can't be reached"), std::string::npos);
  EXPECT_NE(message_of().find("are paused"), std::string::npos);
  TestServer server({plain(Method::kGet, "/", [](const Request&, const CallContext&) { return Response::text(200, "text/plain", "x"); })});
  const auto refuse = [](std::string_view) -> Result<void> { return fail(ErrorCode::kUnavailable, "not to my taste"); };
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(client_->stream(CallContext::with_timeout(kPatience), to(server->port()), {}, refuse).error().message, "not to my taste");
  }
}

TEST_F(ClientTest, AConnectIsTriedAgain) {
  TestListener listener(TestListener::Listens::kLater);
  std::thread upstream([&] {
    std::this_thread::sleep_for(20ms);
    listener.listen();
    TestSocket socket = listener.accept();
    socket.read_until("\r\n\r\n");
    socket.send("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n");
  });
  EXPECT_TRUE(client({.connect_attempts = 50}).fetch(CallContext::with_timeout(kPatience), to(listener.port())));
  upstream.join();
}

TEST_F(ClientTest, AddressesThatAreNotPublicAreNotConnectedTo) {
  TestListener listener;
  client({.addresses = Addresses::kPublic});
  for (const std::string_view host :
       {"127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "169.254.169.254", "127.1", "0x7f000001", "2130706433"}) {
    const auto response =
        client_->fetch(CallContext::with_timeout(kPatience), {Method::kGet, fmt::format("http://{}:{}/", host, listener.port()), {}, {}});
    ASSERT_FALSE(response) << host;
    EXPECT_TRUE(response.error().code == ErrorCode::kPermissionDenied || response.error().code == ErrorCode::kInvalidArgument ||
                response.error().message.find("can't resolve host") != std::string::npos)
        << host << ": " << response.error().message;
  }
  EXPECT_FALSE(listener.has_pending()) << "nobody connected";
}

}  // namespace
}  // namespace footnote::http
