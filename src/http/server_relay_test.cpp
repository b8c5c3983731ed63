#include <gtest/gtest.h>

#include <atomic>

#include "http/test_relay.h"

namespace footnote::http {
namespace {

using namespace testing;

INSTANTIATE_TEST_SUITE_P(Backends, ServerRelayTest, ::testing::Values(Loops::kBest, Loops::kEpoll), name_of_loops);

TEST_P(ServerRelayTest, HandsOnWhatComesAsItComesAndHoldsNoWorker) {
  ServerOptions options;
  options.workers = 1;
  start(std::move(options));
  TestSocket first = ask();
  TestSocket first_up = accept();
  TestSocket second = ask();
  TestSocket second_up = accept();
  for (auto [client, peer] : {std::pair(&first, &first_up), std::pair(&second, &second_up)}) {
    peer->send(kChunkedHead);
    EXPECT_TRUE(client->read_answer(true)->has("content-type: text/event-stream"));
    peer->send(chunk("one"));
    EXPECT_EQ(client->read_chunk(), "one");
  }
  EXPECT_EQ(server_->gauge("footnote_http_handlers_running"), 0);
  EXPECT_EQ(server_->gauge("footnote_sse_open_streams"), 2);
  EXPECT_EQ(calls_open(), 2);
  // Pieces that arrive together are sent together.
  second_up.send(chunk("two ") + chunk("three ") + chunk("four"));
  EXPECT_EQ(second.read_chunk(), "two three four");
  first_up.send("0\r\n\r\n");
  second_up.send("0\r\n\r\n");
  EXPECT_EQ(first.read_chunk(), "");
  EXPECT_EQ(second.read_chunk(), "");
  EXPECT_TRUE(eventually([&] { return server_->gauge("footnote_sse_open_streams") == 0 && calls_open() == 0; }));
}

TEST_P(ServerRelayTest, BothConnectionsServeAnotherRequest) {
  start();
  TestSocket client = server_->connect();
  TestSocket peer;
  for (int i = 0; i < 3; ++i) {
    client.send(get("/relay"));
    if (i == 0) peer = upstream_.accept();
    EXPECT_TRUE(peer.read_until("\r\n\r\n{}"));
    peer.send("HTTP/1.1 201 Created\r\ncontent-length: 4\r\n\r\nbody");
    const auto answer = client.read_answer();
    EXPECT_EQ(answer->status, 201);
    EXPECT_EQ(answer->body, "body");
  }
  EXPECT_EQ(client_metrics_.counter("footnote_upstream_requests_total", "", {{"provider", "upstream"}, {"code", "201"}}).value(), 3);
}

TEST_P(ServerRelayTest, IdleUpstreamsAreClosedInTime) {
  ClientOptions options;
  options.idle_time_max = 20ms;
  start({}, std::move(options));
  TestSocket client = ask();
  TestSocket peer = accept();
  peer.send("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok");
  EXPECT_EQ(client.read_answer()->body, "ok");
  EXPECT_EQ(peer.read_to_end(), "");
}

TEST_P(ServerRelayTest, AClientThatStopsReadingPausesTheUpstreamAndThenReleasesIt) {
  ServerOptions options;
  options.write_deadline = 300ms;
  start(std::move(options));
  TestSocket client = ask(4096);
  TestSocket peer = accept();
  peer.send(kChunkedHead);
  const std::string piece = chunk(std::string(64 << 10, 'x'));
  std::atomic<std::size_t> sent{0};
  std::thread sender([&] {
    while (peer.send(piece)) sent += piece.size();
  });
  // The sender ends only with the release: until then it was blocked by full socket buffers.
  sender.join();
  EXPECT_LT(sent, 64U << 20);
  EXPECT_TRUE(eventually([&] { return calls_open() == 0 && ended_with() == ErrorCode::kCancelled; }));
  EXPECT_TRUE(eventually([&] { return server_->gauge("footnote_sse_open_streams") == 0; }));
}

TEST_P(ServerRelayTest, ASlowClientGetsAllOfIt) {
  start();
  TestSocket client = ask(4096);
  TestSocket peer = accept();
  const std::string body(8 << 20, 'x');
  std::thread sender([&] { peer.send(fmt::format("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", body.size()) + body); });
  std::this_thread::sleep_for(50ms);
  const auto answer = client.read_answer();
  sender.join();
  EXPECT_EQ(answer->body.size(), body.size());
}

TEST_P(ServerRelayTest, AClientThatLeavesReleasesTheUpstream) {
  start();
  for (const bool before_the_head : {true, false}) {
    TestSocket client = ask();
    TestSocket peer = accept();
    if (!before_the_head) {
      peer.send(kChunkedHead);
      peer.send(chunk("one"));
      EXPECT_TRUE(client.read_answer(true));
      EXPECT_EQ(client.read_chunk(), "one");
    }
    client.close();
    EXPECT_EQ(peer.read_to_end(), "") << "closed without further bytes";
    EXPECT_TRUE(eventually([&] { return calls_open() == 0 && ended_with() == ErrorCode::kCancelled; }));
  }
  EXPECT_TRUE(eventually([&] { return server_->all_quiet(); }));
}

TEST_P(ServerRelayTest, WhatAnUpstreamBreaksOffDoesNotLookWhole) {
  start();
  TestSocket client = ask();
  TestSocket peer = accept();
  peer.send(kChunkedHead);
  peer.send("5\r\nhel");
  peer.close();
  const std::string all = client.read_to_end();
  EXPECT_NE(all.find("hel"), std::string::npos);
  EXPECT_EQ(all.find("0\r\n\r\n"), std::string::npos);
  EXPECT_EQ(ended_with(), ErrorCode::kUnavailable);
}

TEST_P(ServerRelayTest, AnUpstreamThatIsAwaySilentOrMadIsAnsweredFor) {
  ClientOptions options;
  options.silence_timeout = 100ms;
  start({}, std::move(options));
  {
    TestSocket client = ask();
    TestSocket peer = accept();
    EXPECT_EQ(client.read_answer()->status, 502) << "silent";
    EXPECT_EQ(peer.read_to_end(), "");
  }
  {
    TestSocket client = ask();
    TestSocket peer = accept();
    peer.send(kChunkedHead);
    peer.send(chunk("one"));
    EXPECT_TRUE(client.read_answer(true));
    EXPECT_EQ(client.read_chunk(), "one");
    EXPECT_EQ(client.read_to_end(), "") << "silent in the middle";
  }
  {
    TestSocket client = ask();
    accept().send("nonsense\r\n\r\n");
    EXPECT_EQ(client.read_answer()->status, 502) << "malformed";
  }
  upstream_.close();
  EXPECT_EQ(server_->ask(get("/relay")).status, 502) << "closed port";
}

TEST_P(ServerRelayTest, TheRoutesTimeEndsACall) {
  start({}, {}, nullptr, 100ms);
  TestSocket client = ask();
  TestSocket peer = accept();
  EXPECT_EQ(client.read_answer()->status, 502);
  EXPECT_EQ(ended_with(), ErrorCode::kDeadlineExceeded);
}

TEST_P(ServerRelayTest, AnEndlessLineIsHandedOnInLittleMemory) {
  start();
  TestSocket client = ask();
  TestSocket peer = accept();
  constexpr std::size_t kTotal = 48 << 20;
  const std::string piece(1 << 20, 'x');
  std::thread sender([&] {
    peer.send(fmt::format("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", kTotal));
    for (std::size_t at = 0; at < kTotal; at += piece.size()) peer.send(piece);
  });
  EXPECT_TRUE(client.read_answer(true));
  std::size_t received = 0;
  std::size_t largest = 0;
  while (true) {
    const auto bytes = client.read_chunk();
    if (!bytes || bytes->empty()) break;
    received += bytes->size();
    largest = std::max(largest, bytes->size());
  }
  sender.join();
  EXPECT_EQ(received, kTotal);
  EXPECT_LE(largest, kHandOverBytesMax);
}

TEST_P(ServerRelayTest, ARelayMayAskAgainAndSpeakInEvents) {
  ServerOptions options;
  options.sse_keep_alive = 20ms;
  start(std::move(options), {}, [this](ResponseStream& response) { return std::make_unique<AskTwice>(response, request("/again")); });
  TestSocket client = ask();
  TestSocket peer = accept();
  peer.send("HTTP/1.1 404 Not Found\r\ncontent-length: 2\r\n\r\nno");
  EXPECT_TRUE(peer.read_until("/again HTTP/1.1"));
  EXPECT_TRUE(peer.read_until("\r\n\r\n{}"));
  peer.send(std::string(kChunkedHead) + chunk("one"));
  EXPECT_EQ(client.read_answer(true)->status, 200);
  EXPECT_EQ(client.read_chunk(), "data: one\n\n");
  EXPECT_EQ(client.read_chunk(), ": keep-alive\n\n") << "a keep-alive comment is sent";
  EXPECT_EQ(client.read_chunk(), ": keep-alive\n\n");
  peer.send(chunk("two") + "0\r\n\r\n");
  std::optional<std::string> next;
  while ((next = client.read_chunk()) == ": keep-alive\n\n") {
  }
  EXPECT_EQ(next, "data: two\n\n");
  EXPECT_EQ(client.read_chunk(), "");
}

TEST_P(ServerRelayTest, ARelayThatThrowsCutsItsAnswerAlone) {
  start({}, {}, [this](ResponseStream& response) { return std::make_unique<AskTwice>(response, request()); });
  TestSocket client = ask();
  TestSocket peer = accept();
  peer.send(kChunkedHead);
  peer.send(chunk("throw"));
  const std::string all = client.read_to_end();
  EXPECT_NE(all.find("200 OK"), std::string::npos);
  EXPECT_EQ(all.find("0\r\n\r\n"), std::string::npos);
  TestSocket other = ask();
  accept().send("HTTP/1.1 403 No\r\ncontent-length: 0\r\n\r\n");
  EXPECT_EQ(other.read_answer()->status, 418);
}

TEST_P(ServerRelayTest, ADrainLetsARelayFinishAndAStopCutsIt) {
  start();
  TestSocket client = ask();
  TestSocket peer = accept();
  peer.send(kChunkedHead);
  EXPECT_TRUE(client.read_answer(true));
  std::thread drain([&] { (*server_)->drain(kPatience); });
  peer.send(chunk("one") + "0\r\n\r\n");
  EXPECT_EQ(client.read_chunk(), "one");
  EXPECT_EQ(client.read_chunk(), "");
  drain.join();

  start();
  TestSocket cut = ask();
  TestSocket cut_up = accept();
  cut_up.send(kChunkedHead);
  EXPECT_TRUE(cut.read_answer(true));
  server_->stop();
  EXPECT_EQ(cut_up.read_to_end(), "");
  EXPECT_EQ(calls_open(), 0);
}

TEST_P(ServerRelayTest, AnUpstreamThatFailsAgainAndAgainIsLeftAlone) {
  ClientOptions options;
  options.breaker = {.failures_max = 2, .rest_time = std::chrono::minutes{1}};
  start({}, std::move(options));
  for (int i = 0; i < 2; ++i) {
    TestSocket client = ask();
    accept().close();
    EXPECT_EQ(client.read_answer()->status, 502);
  }
  EXPECT_NE(server_->ask(get("/relay")).body.find("are paused"), std::string::npos);
}

TEST_P(ServerRelayTest, ManyAtOnceOnSeveralIoThreads) {
  ServerOptions options;
  options.io_threads = 3;
  TestServer upstream({plain(Method::kPost, "/", [](const Request&, const CallContext&) {
    return Response::text(200, "text/plain", std::string(100'000, 'y'));
  })});
  Metrics metrics;
  Client client({}, metrics);
  TestServer server(
      {streaming("/relay",
                 [&](const Request&, const CallContext&, ResponseStream& response) {
                   response.relay(
                       client,
                       {.method = Method::kPost, .url = fmt::format("http://127.0.0.1:{}/", upstream->port()), .headers = {}, .body = {}},
                       std::make_unique<PassOn>(response));
                 })},
      std::move(options));
  std::vector<std::thread> threads;
  std::atomic<int> good{0};
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      TestSocket socket = server.connect();
      for (int j = 0; j < 20; ++j) {
        socket.send(get("/relay"));
        const auto answer = socket.read_answer();
        if (answer && answer->body == std::string(100'000, 'y')) ++good;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good, 8 * 20);
  server.stop();
}

TEST_P(ServerRelayTest, HeadAndOldClientsAreServed) {
  start();
  TestSocket old = server_->connect();
  old.send("GET /relay HTTP/1.0\r\n\r\n");
  TestSocket peer = accept();
  peer.send(kChunkedHead);
  peer.send(chunk("one") + "0\r\n\r\n");
  const std::string all = old.read_to_end();
  EXPECT_TRUE(all.ends_with("\r\n\r\none")) << all;
  TestSocket head = server_->connect();
  head.send("HEAD /relay HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n");
  EXPECT_TRUE(peer.read_until("\r\n\r\n{}"));
  peer.send(kChunkedHead);
  peer.send(chunk("one") + "0\r\n\r\n");
  EXPECT_TRUE(head.read_to_end().ends_with("\r\n\r\n"));
}

}  // namespace
}  // namespace footnote::http
