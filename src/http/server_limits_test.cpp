#include <gtest/gtest.h>

#include <latch>
#include <random>

#include "http/test_server.h"

// Every limit of the server, at it and past it, and malicious clients.
namespace footnote::http {
namespace {

using namespace testing;

Route echo_route(std::size_t body_bytes_max) {
  Route route = plain(Method::kPost, "/echo", echo, Lane::kInline);
  route.body_bytes_max = body_bytes_max;
  return route;
}

Route quick_route() {
  return plain(
      Method::kGet, "/quick", [](const Request&, const CallContext&) { return Response::text(200, "text/plain", "ok"); }, Lane::kInline);
}

/// A request whose head is exactly `size` bytes long.
std::string get_with_head_of(std::size_t size) {
  const std::string start = "GET /quick HTTP/1.1\r\nHost: t\r\nX-Fill: ";
  return start + std::string(size - start.size() - 4, 'x') + "\r\n\r\n";
}

TEST(ServerLimitsTest, Head) {
  ServerOptions options;
  options.header_bytes_max = 2048;
  TestServer server({quick_route()}, std::move(options));
  EXPECT_EQ(server.ask(get_with_head_of(2048)).status, 200);
  EXPECT_EQ(server.ask(get_with_head_of(2049)).status, 431);
  EXPECT_EQ(server.ask(get_with_head_of(100'000)).status, 431);
  EXPECT_EQ(server.ask("GET /" + std::string(1500, 'a') + " HTTP/1.1\r\nHost: t\r\nX: " + std::string(1500, 'b') + "\r\n\r\n").status, 431);
  EXPECT_EQ(server.ask("GET /" + std::string(5000, 'a')).status, 431);
  // Pipelined requests do not count against the head limit.
  TestSocket socket = server.connect();
  socket.send(get_with_head_of(2000) + get_with_head_of(2000) + get_with_head_of(2000));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(socket.read_answer()->status, 200);
}

TEST(ServerLimitsTest, ARefusalRepeatsLittleOfTheRequest) {
  TestServer server({quick_route()});
  EXPECT_NE(server.ask(get("/nowhere")).body.find("/nowhere\""), std::string::npos);
  EXPECT_LT(server.ask(get("/" + std::string(10'000, 'a'))).body.size(), 500U);
}

TEST(ServerLimitsTest, Body) {
  TestServer server({echo_route(1000)});
  EXPECT_EQ(server.ask(post("/echo", std::string(1000, 'x'))).body.size(), 1000U);
  EXPECT_EQ(server.ask(post("/echo", std::string(1001, 'x'))).status, 413);
  EXPECT_EQ(server.ask("POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: 99999999999\r\n\r\n").status, 413);
  EXPECT_EQ(server.ask("POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: 99999999999999999999999\r\n\r\n").status, 400);
  // A large refused body still being sent must not reset the connection before the response is read.
  EXPECT_EQ(server.ask(post("/echo", std::string(500'000, 'x'))).status, 413);
}

TEST(ServerLimitsTest, ChunkedBody) {
  TestServer server({echo_route(1000)});
  const auto chunked = [](std::size_t size) {
    return fmt::format("POST /echo HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n{:x}\r\n{}\r\n{:x}\r\n{}\r\n0\r\n\r\n",
                       size / 2, std::string(size / 2, 'x'), size - size / 2, std::string(size - size / 2, 'y'));
  };
  EXPECT_EQ(server.ask(chunked(1000)).body.size(), 1000U);
  EXPECT_EQ(server.ask(chunked(1001)).status, 413);
  EXPECT_EQ(server.ask("POST /echo HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n").status, 413);
  EXPECT_EQ(server.ask("POST /echo HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n").status, 400);
  EXPECT_EQ(server.ask("POST /echo HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n1;" + std::string(60'000, 'e')).status, 400);
}

TEST(ServerLimitsTest, SlowHeadsAndBodiesAreCutAtTheirDeadline) {
  ServerOptions options;
  options.header_deadline = 200ms;
  options.body_deadline = 200ms;
  TestServer server({quick_route(), echo_route(1000)}, std::move(options));
  TestSocket silent = server.connect();
  TestSocket head = server.connect();
  head.send("GET /quick HTTP/1.1\r\nHo");
  TestSocket body = server.connect();
  body.send("POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: 10\r\n\r\nabc");
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(head.read_answer()->status, 408);
  EXPECT_EQ(body.read_answer()->status, 408);
  EXPECT_TRUE(silent.wait_closed());
  EXPECT_TRUE(head.wait_closed());
  EXPECT_LT(std::chrono::steady_clock::now() - start, 10s);
  EXPECT_EQ(server.ask(get("/quick")).status, 200);
}

TEST(ServerLimitsTest, ADripOfBytesDoesNotExtendTheDeadline) {
  ServerOptions options;
  options.header_deadline = 200ms;
  options.body_deadline = 200ms;
  TestServer server({quick_route(), echo_route(1 << 20)}, std::move(options));
  std::vector<TestSocket> drips;
  for (int i = 0; i < 100; ++i) {
    drips.push_back(server.connect());
    const bool head = i % 2 == 0;
    drips.back().send(head ? "GET /quick HTTP/1.1\r\nX-Slow: " : "POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: 1000000\r\n\r\n");
  }
  // Send many bytes, so that a deadline often passes just as one arrives.
  EXPECT_TRUE(eventually([&] { return std::ranges::count_if(drips, [](TestSocket& drip) { return drip.send("x"); }) == 0; }));
  EXPECT_EQ(server.ask(get("/quick")).status, 200);
}

TEST(ServerLimitsTest, IdleConnectionsAreClosedWithoutAWord) {
  ServerOptions options;
  options.idle_deadline = 100ms;
  TestServer server({quick_route()}, std::move(options));
  TestSocket socket = server.connect();
  socket.send(get("/quick"));
  EXPECT_EQ(socket.read_answer()->status, 200);
  EXPECT_TRUE(socket.wait_closed());
}

TEST(ServerLimitsTest, AFullQueueIsAnsweredWith503) {
  ServerOptions options;
  options.workers = 1;
  options.queue_max = 2;
  std::latch go(1);
  TestServer server({plain(Method::kGet, "/wait",
                           [&](const Request&, const CallContext&) {
                             go.wait();
                             return Response{};
                           }),
                     quick_route()},
                    std::move(options));
  std::vector<TestSocket> waiting;
  for (int i = 0; i < 3; ++i) {
    waiting.push_back(server.connect());
    waiting.back().send(get("/wait"));
  }
  EXPECT_TRUE(eventually([&] { return server.gauge("footnote_http_queue_depth") == 2; }));
  const Answer refused = server.ask(get("/wait"));
  EXPECT_EQ(refused.status, 503);
  EXPECT_TRUE(refused.has("retry-after: 1\r\n"));
  EXPECT_EQ(server.ask(get("/quick")).status, 200);  // the inline lane needs no worker
  EXPECT_EQ(server.metrics().counter("footnote_http_queue_rejected_total", "").value(), 1U);
  go.count_down();
  for (TestSocket& socket : waiting) EXPECT_EQ(socket.read_answer()->status, 200);
}

TEST(ServerLimitsTest, ARequestThatWaitsTooLongForAWorkerIsRefusedAndNeverRuns) {
  ServerOptions options;
  options.workers = 1;
  options.queue_wait_max = 200ms;
  std::latch go(1);
  std::atomic<int> runs{0};
  TestServer server({plain(Method::kGet, "/wait",
                           [&](const Request&, const CallContext&) {
                             ++runs;
                             go.wait();
                             return Response{};
                           }),
                     quick_route()},
                    std::move(options));
  TestSocket running = server.connect();
  running.send(get("/wait"));
  EXPECT_TRUE(eventually([&] { return runs == 1; }));
  TestSocket waiting = server.connect();
  waiting.send(get("/wait") + get("/quick"));
  const auto refused = waiting.read_answer();
  EXPECT_EQ(refused->status, 503);
  EXPECT_TRUE(refused->has("retry-after: 1\r\n"));
  EXPECT_EQ(waiting.read_answer()->status, 200) << "the connection is kept";
  EXPECT_EQ(server.gauge("footnote_http_queue_depth"), 0);
  EXPECT_EQ(server.metrics().counter("footnote_http_queue_expired_total", "").value(), 1U);
  go.count_down();
  EXPECT_EQ(running.read_answer()->status, 200);
  EXPECT_EQ(runs, 1);
}

TEST(ServerLimitsTest, AHandlerThatRunsLongerThanTheQueueWaitIsNotCutByIt) {
  ServerOptions options;
  options.queue_wait_max = 50ms;
  TestServer server({plain(Method::kGet, "/slow",
                           [](const Request&, const CallContext&) {
                             std::this_thread::sleep_for(200ms);
                             return Response::text(200, "text/plain", "done");
                           })},
                    std::move(options));
  EXPECT_EQ(server.ask(get("/slow")).body, "done");
}

TEST(ServerLimitsTest, AClientThatLeavesTheQueueGivesItsPlaceBackAtOnce) {
  ServerOptions options;
  options.workers = 1;
  options.queue_max = 1;
  std::latch go(1);
  TestServer server({plain(Method::kGet, "/wait",
                           [&](const Request&, const CallContext&) {
                             go.wait();
                             return Response{};
                           })},
                    std::move(options));
  TestSocket running = server.connect();
  running.send(get("/wait"));
  EXPECT_TRUE(eventually([&] { return server.gauge("footnote_http_handlers_running") == 1; }));
  for (int i = 0; i < 3; ++i) {
    TestSocket waiting = server.connect();
    waiting.send(get("/wait"));
    EXPECT_TRUE(eventually([&] { return server.gauge("footnote_http_queue_depth") == 1; })) << i;
    EXPECT_EQ(server.ask(get("/wait")).status, 503) << i;
    waiting.close();
    EXPECT_TRUE(eventually([&] { return server.gauge("footnote_http_queue_depth") == 0; })) << i;
  }
  go.count_down();
}

TEST(ServerLimitsTest, ARequestWhoseClientLeftTheQueueIsNotRun) {
  ServerOptions options;
  options.workers = 1;
  std::latch go(1);
  std::atomic<int> runs{0};
  TestServer server({plain(Method::kGet, "/wait",
                           [&](const Request&, const CallContext&) {
                             ++runs;
                             go.wait();
                             return Response{};
                           })},
                    std::move(options));
  TestSocket running = server.connect();
  running.send(get("/wait"));
  TestSocket left = server.connect();
  EXPECT_TRUE(eventually([&] { return runs == 1; }));
  left.send(get("/wait"));
  EXPECT_TRUE(eventually([&] { return server.gauge("footnote_http_queue_depth") == 1; }));
  left.close();
  std::this_thread::sleep_for(100ms);  // the server promises to notice within this time
  go.count_down();
  EXPECT_EQ(running.read_answer()->status, 200);
  running.close();
  EXPECT_TRUE(eventually([&] { return server.all_quiet(); }));
  EXPECT_EQ(runs, 1);
  EXPECT_NE(server.metrics().render().find("code=\"499\"} 1"), std::string::npos);
}

TEST(ServerLimitsTest, RequestsOnOneConnection) {
  TestServer server({quick_route()});
  TestSocket socket = server.connect();
  constexpr std::size_t kBatch = 100;
  std::string batch;
  for (std::size_t i = 0; i < kBatch; ++i) batch += get("/quick");
  for (std::size_t i = 1; i <= kRequestsPerConnectionMax; ++i) {
    if (i % kBatch == 1) {
      ASSERT_TRUE(socket.send(batch));
    }
    const auto answer = socket.read_answer();
    ASSERT_TRUE(answer && answer->status == 200) << i;
    ASSERT_EQ(answer->has("connection: close\r\n"), i == kRequestsPerConnectionMax) << i;
  }
  EXPECT_TRUE(socket.wait_closed());
}

TEST(ServerLimitsTest, ASmallRefusedBodyIsReadSoThatTheConnectionGoesOn) {
  TestServer server({quick_route()});
  TestSocket socket = server.connect();
  socket.send(post("/nothing", std::string(64 << 10, 'x')) + get("/quick"));
  EXPECT_EQ(socket.read_answer()->status, 404);
  EXPECT_EQ(socket.read_answer()->body, "ok");
  socket.send(post("/nothing", std::string((64 << 10) + 1, 'x')));
  const auto refused = socket.read_answer();
  EXPECT_EQ(refused->status, 404);
  EXPECT_TRUE(refused->has("connection: close\r\n"));
  EXPECT_TRUE(socket.wait_closed());
}

TEST(ServerLimitsTest, PastTheBoundTheLongestIdleConnectionGivesWay) {
  ServerOptions options;
  options.connections_max = 3;
  TestServer server({quick_route()}, std::move(options));
  std::vector<TestSocket> held;
  for (int i = 0; i < 3; ++i) {
    held.push_back(server.connect());
    held.back().send(get("/quick"));
    EXPECT_EQ(held.back().read_answer()->status, 200);
  }
  held[0].send(get("/quick"));  // makes the second the longest idle
  EXPECT_EQ(held[0].read_answer()->status, 200);
  TestSocket fresh = server.connect();
  fresh.send(get("/quick"));
  EXPECT_EQ(fresh.read_answer()->status, 200);
  EXPECT_TRUE(held[1].wait_closed());
  for (TestSocket* other : {&held[0], &held[2], &fresh}) {
    other->send(get("/quick"));
    EXPECT_EQ(other->read_answer()->status, 200);
  }
  EXPECT_EQ(server.metrics().counter("footnote_http_connections_given_up_total", "").value(), 1U);
}

TEST(ServerLimitsTest, AConnectionThatNeverSpokeGivesWayToo) {
  ServerOptions options;
  options.connections_max = 1;
  TestServer server({quick_route()}, std::move(options));
  TestSocket silent = server.connect();
  EXPECT_TRUE(eventually([&] { return server.gauge("footnote_http_connections_open") == 1; }));
  EXPECT_EQ(server.ask(get("/quick")).status, 200);
  EXPECT_TRUE(silent.wait_closed());
}

TEST(ServerLimitsTest, ConnectionsWithARequestUnderWayNeverGiveWay) {
  ServerOptions options;
  options.connections_max = 3;
  std::latch go(1);
  TestServer server({plain(Method::kGet, "/wait",
                           [&](const Request&, const CallContext&) {
                             go.wait();
                             return Response::text(200, "text/plain", "done");
                           }),
                     echo_route(1000)},
                    std::move(options));
  TestSocket head = server.connect();
  head.send("POST /echo HTTP/1.1\r\nHo");
  TestSocket body = server.connect();
  body.send("POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: 3\r\n\r\na");
  TestSocket serving = server.connect();
  serving.send(get("/wait"));
  EXPECT_TRUE(eventually([&] { return server.gauge("footnote_http_handlers_running") == 1; }));
  for (int i = 0; i < 20; ++i) {
    const Answer answer = server.ask(get("/wait"));
    EXPECT_EQ(answer.status, 503);
    EXPECT_TRUE(answer.has("retry-after: 1\r\n"));
  }
  EXPECT_EQ(server.metrics().counter("footnote_http_connections_refused_total", "").value(), 20U);
  head.send("st: t\r\nContent-Length: 2\r\n\r\nok");
  EXPECT_EQ(head.read_answer()->body, "ok");
  body.send("bc");
  EXPECT_EQ(body.read_answer()->body, "abc");
  go.count_down();
  EXPECT_EQ(serving.read_answer()->body, "done");
}

TEST(ServerLimitsTest, ConnectionsOfOneAddress) {
  ServerOptions options;
  options.connections_per_peer_max = 2;
  TestServer server({quick_route()}, std::move(options));
  std::vector<TestSocket> held;
  for (int i = 0; i < 2; ++i) {
    held.push_back(server.connect());
    held.back().send(get("/quick"));
    EXPECT_EQ(held.back().read_answer()->status, 200);
  }
  const Answer refused = server.ask(get("/quick"));
  EXPECT_EQ(refused.status, 429);
  EXPECT_TRUE(refused.has("retry-after: 1\r\n"));
  held.pop_back();
  EXPECT_TRUE(eventually([&] { return server.ask(get("/quick")).status == 200; }));
}

TEST(ServerLimitsTest, BodiesInMemoryOfAllRequests) {
  ServerOptions options;
  options.body_bytes_total_max = 10'000;
  TestServer server({echo_route(8'000)}, std::move(options));
  TestSocket first = server.connect();
  first.send("POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: 8000\r\n\r\n" + std::string(7'999, 'x'));
  Answer refused;
  EXPECT_TRUE(eventually([&] {
    refused = server.ask(post("/echo", std::string(8'000, 'y')));
    return refused.status == 503;
  }));
  EXPECT_TRUE(refused.has("retry-after: 1\r\n"));
  EXPECT_EQ(server.ask(post("/echo", std::string(2'001, 'y'))).status, 200);
  first.send("x");
  EXPECT_EQ(first.read_answer()->body.size(), 8'000U);
  EXPECT_TRUE(eventually([&] { return server.ask(post("/echo", std::string(8'000, 'y'))).status == 200; }));
}

TEST(ServerLimitsTest, AJsonBodyCountsWithItsValues) {
  ServerOptions options;
  options.body_bytes_total_max = 10'000;
  TestServer server({echo_route(8'000)}, std::move(options));
  const auto list = [](std::size_t count) {
    std::string out = "[1";
    for (std::size_t i = 1; i < count; ++i) out += ",1";
    return out + "]";
  };
  EXPECT_EQ(server.ask(post("/echo", list(100))).status, 200);
  EXPECT_EQ(server.ask(post("/echo", list(200))).status, 413);  // needs more than the whole budget
  EXPECT_EQ(server.ask(post("/echo", "x" + list(200))).status, 200);
}

TEST(ServerLimitsTest, AReaderThatTakesNothingIsCutOff) {
  ServerOptions options;
  options.write_deadline = 200ms;
  TestServer server(
      {plain(Method::kGet, "/large",
             [](const Request&, const CallContext&) { return Response::text(200, "text/plain", std::string(32 << 20, 'x')); })},
      std::move(options));
  TestSocket socket = server.connect(4096);
  socket.send(get("/large"));
  EXPECT_TRUE(eventually([&] { return server.gauge("footnote_http_connections_open") == 1; }));
  EXPECT_TRUE(eventually([&] { return server.all_quiet(); }));
}

TEST(ServerLimitsTest, GarbageIsAnsweredWith400OrClosed) {
  ServerOptions options;
  options.header_deadline = 100ms;
  options.body_deadline = 100ms;
  TestServer server({quick_route(), echo_route(1000)}, std::move(options));
  std::mt19937 random(42);
  const std::string_view parts[] = {"GET ",
                                    "POST ",
                                    "/echo",
                                    "/quick",
                                    " HTTP/1.1",
                                    "\r\n",
                                    "\n",
                                    "\r",
                                    "Host: t",
                                    "Content-Length: ",
                                    "5",
                                    "99999999999999999999",
                                    "Transfer-Encoding: chunked",
                                    "\r\n\r\n",
                                    ":",
                                    " ",
                                    "\t",
                                    "0\r\n\r\n",
                                    "ffffffffffffffffff\r\n",
                                    "\x00\x01"};
  for (int round = 0; round < 200; ++round) {
    std::string text;
    const bool structured = round % 2 == 0;
    for (int i = 0; i < 25; ++i) {
      if (structured)
        text += parts[random() % std::size(parts)];
      else
        text += static_cast<char>(random() & 0xFF);
    }
    TestSocket socket = server.connect();
    ASSERT_TRUE(socket.is_open());
    socket.send(text);
    socket.half_close();
    const auto answer = socket.read_answer(true);
    if (!answer) continue;
    const std::vector<int> fine{200, 400, 404, 405, 408, 413, 417, 431, 501};
    EXPECT_NE(std::ranges::find(fine, answer->status), fine.end()) << "round " << round << ": " << answer->status;
  }
  EXPECT_EQ(server.ask(get("/quick")).status, 200);
  EXPECT_TRUE(eventually([&] { return server.all_quiet(); }));
}

}  // namespace
}  // namespace footnote::http
