#include "http/server.h"

#include <gtest/gtest.h>

#include <csignal>
#include <latch>
#include <stdexcept>
#include <system_error>

#include "http/test_server.h"

namespace footnote::http {
namespace {

using namespace testing;

std::vector<Route> basic_routes() {
  return {
      plain(Method::kPost, "/echo", echo),
      plain(Method::kPost, "/inline", echo, Lane::kInline),
      plain(Method::kGet, "/hello/{name}",
            [](const Request& request, const CallContext& call) {
              EXPECT_EQ(call.request_id, request.request_id);
              return Response::text(
                  200, "text/plain",
                  fmt::format("hello {} {} {}", request.param("name"), request.query_value("q").value_or("-"), request.remote_address));
            }),
      plain(Method::kGet, "/throws", [](const Request&, const CallContext&) -> Response { throw std::runtime_error("secret"); }),
      plain(
          Method::kGet, "/throws-inline", [](const Request&, const CallContext&) -> Response { throw 7; }, Lane::kInline),
      plain(Method::kGet, "/no-memory", [](const Request&, const CallContext&) -> Response { throw std::bad_alloc(); }),
      plain(Method::kGet, "/no-thread",
            [](const Request&, const CallContext&) -> Response {
              throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again));
            }),
      plain(
          Method::kGet, "/no-memory-inline", [](const Request&, const CallContext&) -> Response { throw std::bad_alloc(); }, Lane::kInline),
      plain(Method::kGet, "/impossible", [](const Request&, const CallContext&) { return Response{42, {}, {}}; }),
      plain(Method::kDelete, "/gone", [](const Request&, const CallContext&) { return Response{204, {}, {}}; }),
      plain(Method::kGet, "/large",
            [](const Request&, const CallContext&) { return Response::text(200, "text/plain", std::string(3 << 20, 'x')); })};
}

TEST(ServerTest, AnswersOnBothLanes) {
  TestServer server(basic_routes());
  EXPECT_EQ(server.ask(get("/hello/w%C3%A9?q=a+b")).body, "hello w\xC3\xA9 a b 127.0.0.1");
  EXPECT_EQ(server.ask(post("/echo", "abc")).body, "abc");
  EXPECT_EQ(server.ask(post("/inline", "abc")).body, "abc");
  EXPECT_EQ(server.ask(get("/large")).body.size(), 3U << 20);
  EXPECT_EQ(server.ask("GET http://test/hello/x HTTP/1.1\r\nHost: test\r\n\r\n").body, "hello x - 127.0.0.1");
}

TEST(ServerTest, RefusesWithTheExactStatus) {
  TestServer server(basic_routes());
  EXPECT_EQ(server.ask(get("/nothing")).status, 404);
  const Answer wrong_method = server.ask(get("/echo"));
  EXPECT_EQ(wrong_method.status, 405);
  EXPECT_TRUE(wrong_method.has("allow: POST, OPTIONS\r\n"));
  EXPECT_EQ(server.ask("BREW /echo HTTP/1.1\r\nHost: t\r\n\r\n").status, 501);
  EXPECT_EQ(server.ask("GET /%zz HTTP/1.1\r\nHost: t\r\n\r\n").status, 400);
  EXPECT_EQ(server.ask("GET /hello/x HTTP/1.1\r\nHost: t\r\nExpect: magic\r\n\r\n").status, 417);
  EXPECT_EQ(server.ask("POST /echo HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n").status, 501);
  EXPECT_EQ(server.ask("\r\rnonsense\r\n\r\n").status, 400);
}

TEST(ServerTest, TurnsExceptionsIntoAPlain500) {
  TestServer server(basic_routes());
  for (const std::string_view path : {"/throws", "/throws-inline", "/impossible"}) {
    const Answer answer = server.ask(get(path));
    EXPECT_EQ(answer.status, 500) << path;
    EXPECT_EQ(answer.body.find("secret"), std::string::npos);
  }
}

TEST(ServerTest, ARequestThatFindsNoMemoryIsToldToComeBack) {
  TestServer server(basic_routes());
  for (const std::string_view path : {"/no-memory", "/no-memory-inline", "/no-thread"}) {
    const Answer answer = server.ask(get(path));
    EXPECT_EQ(answer.status, 503) << path;
    EXPECT_EQ(answer.has("retry-after: 2\r\n"), true) << path;
  }
  EXPECT_EQ(server.ask(get("/hello/you")).status, 200);
}

TEST(ServerTest, RendersItsRefusalsAsTold) {
  ServerOptions options;
  options.render_error = [](const Error& error) { return Response::text(599, "text/x", fmt::format("<{}>", to_string(error.code))); };
  TestServer server(basic_routes(), std::move(options));
  const Answer answer = server.ask(get("/nothing"));
  EXPECT_EQ(answer.status, 404);
  EXPECT_EQ(answer.body, "<not_found>");
  EXPECT_EQ(server.ask("junk\r\n\r\n").body, "<invalid_argument>");
}

TEST(ServerTest, RendersRefusalsOfARouteInItsForm) {
  std::vector<Route> routes = basic_routes();
  for (Route& route : routes) {
    route.body_bytes_max = 10;
    route.render_error = [](const Request& request, const Error& error) {
      return Response::text(599, "text/x", fmt::format("{} <{}>", request.route, to_string(error.code)));
    };
  }
  TestServer server(std::move(routes), {});
  const Answer declared = server.ask(post("/echo", std::string(11, 'x')));
  EXPECT_EQ(declared.status, 413);
  EXPECT_EQ(declared.body, "/echo <too_large>");
  EXPECT_EQ(server.ask("POST /echo HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\nb\r\nxxxxxxxxxxx\r\n0\r\n\r\n").body,
            "/echo <too_large>");
  EXPECT_NE(server.ask(get("/nothing")).body, "<not_found>") << "an unmatched request gets the default format";
}

TEST(ServerTest, BelievesAProxyThatIsTrusted) {
  const std::string asked = "GET /hello/you HTTP/1.1\r\nHost: t\r\nX-Forwarded-For: 198.51.100.7\r\n\r\n";
  EXPECT_EQ(TestServer(basic_routes(), {}).ask(asked).body, "hello you - 127.0.0.1");
  ServerOptions options;
  options.trusted_proxies = *parse_address_ranges("127.0.0.0/8");
  EXPECT_EQ(TestServer(basic_routes(), std::move(options)).ask(asked).body, "hello you - 198.51.100.7");
}

TEST(ServerTest, AnswersHeadAndOptions) {
  TestServer server(basic_routes());
  TestSocket socket = server.connect();
  socket.send("HEAD /hello/x HTTP/1.1\r\nHost: t\r\n\r\n" + get("/hello/y"));
  const auto head = socket.read_answer(true);
  EXPECT_TRUE(head->has("content-length: 19\r\n"));
  EXPECT_EQ(socket.read_answer()->body, "hello y - 127.0.0.1");
  socket.send("OPTIONS /hello/x HTTP/1.1\r\nHost: t\r\n\r\n");
  const auto options = socket.read_answer();
  EXPECT_EQ(options->status, 204);
  EXPECT_TRUE(options->has("allow: GET, HEAD, OPTIONS\r\n"));
  EXPECT_FALSE(options->has("content-length"));
  socket.send("DELETE /gone HTTP/1.1\r\nHost: t\r\n\r\n");
  EXPECT_EQ(socket.read_answer()->status, 204);
}

TEST(ServerTest, CarriesRequestIds) {
  TestServer server(basic_routes());
  EXPECT_TRUE(server.ask(get("/hello/x", "X-Request-Id: my.id-1\r\n")).has("x-request-id: my.id-1\r\n"));
  EXPECT_TRUE(server.ask(get("/nothing", "X-Request-Id: my.id-1\r\n")).has("x-request-id: my.id-1\r\n"));
  const Answer answer = server.ask(get("/hello/x", "X-Request-Id: bad id\r\n"));
  EXPECT_TRUE(answer.has("x-request-id: "));
  EXPECT_FALSE(answer.has("bad id"));
  EXPECT_TRUE(server.ask("junk\r\n\r\n").has("x-request-id: "));
}

TEST(ServerTest, KeepsConnectionsAliveAndPipelinesInOrder) {
  for (const std::string_view path : {"/echo", "/inline"}) {
    TestServer server(basic_routes());
    TestSocket socket = server.connect();
    std::string requests;
    for (int i = 0; i < 50; ++i) requests += post(path, fmt::format("body {}", i));
    socket.send(requests);
    for (int i = 0; i < 50; ++i) ASSERT_EQ(socket.read_answer()->body, fmt::format("body {}", i));
    socket.send(post(path, "last", "Connection: close\r\n"));
    const auto last = socket.read_answer();
    EXPECT_EQ(last->body, "last");
    EXPECT_TRUE(last->has("connection: close\r\n"));
    EXPECT_TRUE(socket.wait_closed());
  }
}

TEST(ServerTest, SpeaksHttp10) {
  TestServer server(basic_routes());
  TestSocket socket = server.connect();
  socket.send("GET /hello/x HTTP/1.0\r\n\r\n");
  EXPECT_EQ(socket.read_answer()->status, 200);
  EXPECT_TRUE(socket.wait_closed());
}

TEST(ServerTest, ReadsChunkedBodiesInAnySlicing) {
  TestServer server(basic_routes());
  const std::string request =
      "POST /echo HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6;x=y\r\n world\r\n0\r\nTrailer: z\r\n\r\n";
  const std::string empty = "POST /echo HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n";
  TestSocket socket = server.connect();
  const int one = 1;
  ::setsockopt(socket.descriptor(), IPPROTO_TCP, 1 /* TCP_NODELAY */, &one, sizeof one);
  for (const char& byte : request) ASSERT_TRUE(socket.send(std::string_view(&byte, 1)));
  EXPECT_EQ(socket.read_answer()->body, "hello world");
  for (const char& byte : empty) {
    ASSERT_TRUE(socket.send(std::string_view(&byte, 1)));
    std::this_thread::sleep_for(1ms);  // so that each byte is read separately
  }
  EXPECT_EQ(socket.read_answer()->body, "");
  socket.send(request);
  EXPECT_EQ(socket.read_answer()->body, "hello world");
}

TEST(ServerTest, SaysContinue) {
  TestServer server(basic_routes());
  TestSocket socket = server.connect();
  socket.send("POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_EQ(socket.read_answer()->status, 100);
  socket.send("abc");
  EXPECT_EQ(socket.read_answer()->body, "abc");
  socket.send("POST /nothing HTTP/1.1\r\nHost: t\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_EQ(socket.read_answer()->status, 404);
  EXPECT_TRUE(socket.wait_closed());
}

TEST(ServerTest, AsksTheGuardFirstAndTheDecoratorLast) {
  ServerOptions options;
  options.guard = [](const Request& request) -> std::optional<Response> {
    if (request.headers.contains("x-key")) return std::nullopt;
    return Response::text(401, "text/plain", "no key for " + request.path);
  };
  options.decorate = [](const Request& request, Headers& headers) { headers.set("x-seen", request.route.empty() ? "-" : request.route); };
  TestServer server(basic_routes(), std::move(options));
  TestSocket socket = server.connect();
  socket.send(post("/echo", "body"));  // refused, but its small body is read, so the connection is kept
  const auto refused = socket.read_answer();
  EXPECT_EQ(refused->status, 401);
  EXPECT_EQ(refused->body, "no key for /echo");
  EXPECT_TRUE(refused->has("x-seen: -\r\n"));
  socket.send(post("/echo", "body", "X-Key: 1\r\n"));
  const auto answer = socket.read_answer();
  EXPECT_EQ(answer->body, "body");
  EXPECT_TRUE(answer->has("x-seen: /echo\r\n"));
}

TEST(ServerTest, CountsRequests) {
  TestServer server(basic_routes());
  server.ask(post("/echo", "x"));
  server.ask(get("/nothing"));
  EXPECT_TRUE(eventually([&] { return server.all_quiet(); }));
  const std::string text = server.metrics().render();
  EXPECT_NE(text.find("footnote_http_requests_total{route=\"/echo\",method=\"POST\",code=\"200\"} 1"), std::string::npos) << text;
  EXPECT_NE(text.find("footnote_http_requests_total{route=\"none\",method=\"GET\",code=\"404\"} 1"), std::string::npos) << text;
  EXPECT_NE(text.find("footnote_http_request_duration_seconds_count{route=\"/echo\"} 1"), std::string::npos) << text;
}

TEST(ServerTest, GivesTheRoutesDeadlineToItsHandler) {
  Route route = plain(Method::kGet, "/", [](const Request&, const CallContext& call) {
    const auto left = std::chrono::duration_cast<std::chrono::seconds>(call.deadline - std::chrono::steady_clock::now());
    return Response::text(200, "text/plain", left > 4s && left <= 5s ? "about five" : "other");
  });
  route.timeout = 5500ms;
  TestServer server({route});
  EXPECT_EQ(server.ask(get("/")).body, "about five");
}

TEST(ServerTest, StopsAHandlerWhoseClientLeft) {
  for (const bool pipelined : {false, true}) {
    std::atomic<bool> running{false};
    std::atomic<bool> stopped{false};
    TestServer server({plain(Method::kGet, "/wait", [&](const Request&, const CallContext& call) {
      running = true;
      stopped = eventually([&] { return call.stop.stop_requested(); });
      return Response{};
    })});
    TestSocket socket = server.connect();
    socket.send(get("/wait"));
    EXPECT_TRUE(eventually([&] { return running.load(); }));
    if (pipelined) socket.send(get("/wait"));
    const auto left = std::chrono::steady_clock::now();
    socket.close();
    EXPECT_TRUE(eventually([&] { return stopped.load(); }));
    EXPECT_LT(std::chrono::steady_clock::now() - left, 5s);
    EXPECT_TRUE(eventually([&] { return server.all_quiet(); }));
  }
}

TEST(ServerTest, AnswersAHandlerThatRunsWhileMoreRequestsCome) {
  std::latch go(1);
  TestServer server({plain(Method::kGet, "/wait", [&](const Request& request, const CallContext&) {
    go.wait();
    return Response::text(200, "text/plain", std::string(request.query_value("n").value_or("")));
  })});
  TestSocket socket = server.connect();
  socket.send(get("/wait?n=1"));
  EXPECT_TRUE(eventually([&] { return server.gauge("footnote_http_handlers_running") == 1; }));
  socket.send(get("/wait?n=2") + get("/wait?n=3"));
  std::this_thread::sleep_for(120ms);  // more than two polls of a client that has sent more
  go.count_down();
  for (const std::string_view n : {"1", "2", "3"}) EXPECT_EQ(socket.read_answer()->body, n);
}

TEST(ServerTest, StartFailsWithAReason) {
  Metrics metrics;
  TestServer first({});
  ServerOptions options;
  options.port = first->port();
  EXPECT_EQ(Server::start(options, {}, metrics).error().code, ErrorCode::kUnavailable);
  options.host = "not an address";
  EXPECT_EQ(Server::start(options, {}, metrics).error().code, ErrorCode::kInvalidArgument);
  options = {};
  options.workers = 0;
  EXPECT_EQ(Server::start(options, {}, metrics).error().code, ErrorCode::kInvalidArgument);
}

TEST(ServerTest, DrainsAndRefusesNewConnections) {
  std::latch go(1);
  TestServer server({plain(Method::kGet, "/wait", [&](const Request&, const CallContext&) {
    go.wait();
    return Response::text(200, "text/plain", "done");
  })});
  TestSocket idle = server.connect();
  TestSocket busy = server.connect();
  busy.send(get("/wait"));
  EXPECT_TRUE(eventually([&] { return server.gauge("footnote_http_handlers_running") == 1; }));
  std::thread draining([&] { server->drain(10s); });
  EXPECT_TRUE(idle.wait_closed());
  EXPECT_TRUE(eventually([&] { return !server.connect().is_open(); }));
  go.count_down();
  EXPECT_EQ(busy.read_answer()->body, "done");
  EXPECT_TRUE(busy.wait_closed());
  draining.join();
  EXPECT_TRUE(server.all_quiet());
}

TEST(ServerTest, DestructionStopsWhatRuns) {
  auto server = std::make_unique<TestServer>(std::vector<Route>{plain(Method::kGet, "/wait", [](const Request&, const CallContext& call) {
    eventually([&] { return call.stop.stop_requested(); });
    return Response{};
  })});
  TestSocket socket = server->connect();
  socket.send(get("/wait"));
  EXPECT_TRUE(eventually([&] { return server->gauge("footnote_http_handlers_running") == 1; }));
  const auto start = std::chrono::steady_clock::now();
  server.reset();
  EXPECT_LT(std::chrono::steady_clock::now() - start, 15s);
}

TEST(ServerDeathTest, AHandlerThatIgnoresItsStopEndsTheProcessAndIsNamed) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto destroy_under_a_stuck_handler = [] {
    std::latch never(1);
    ServerOptions options;
    options.handler_stop_max = 50ms;
    TestServer server({plain(Method::kGet, "/stuck/{id}",
                             [&](const Request&, const CallContext&) {
                               never.wait();
                               return Response{};
                             })},
                      std::move(options));
    TestSocket socket = server.connect();
    socket.send(get("/stuck/1"));
    eventually([&] { return server.gauge("footnote_http_handlers_running") == 1; });
    server.stop();
  };
  EXPECT_EXIT(destroy_under_a_stuck_handler(), ::testing::KilledBySignal(SIGABRT), "aborting: /stuck/\\{id\\}");
}

}  // namespace
}  // namespace footnote::http
