#include <gtest/gtest.h>

#include "http/client_call.h"
#include "http/test_relay.h"

// Responses with enough pieces to reach the relay loop.
namespace footnote::http {
namespace {

using namespace testing;

class ServerRelayLongTest : public ServerRelayTest {
 protected:
  static constexpr std::string_view kUntilCloseHead = "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\r\n";

  /// Starts a response, piece by piece, until the relay loop has it.
  void begin(TestSocket& client, TestSocket& peer, std::string_view head = kChunkedHead) {
    peer.send(head);
    EXPECT_TRUE(client.read_answer(true));
    for (int i = 0; i < kPiecesBeforeLoop + 2; ++i) {
      const std::string piece = fmt::format("piece {}", i);
      peer.send(head == kChunkedHead ? chunk(piece) : piece);
      ASSERT_EQ(client.read_chunk(), piece);
    }
  }
};

INSTANTIATE_TEST_SUITE_P(Backends, ServerRelayLongTest, ::testing::Values(Loops::kBest, Loops::kEpoll), name_of_loops);

TEST_P(ServerRelayLongTest, EveryPieceIsHandedOnAndBothConnectionsServeAnotherRequest) {
  start();
  TestSocket client = server_->connect();
  TestSocket peer;
  for (int round = 0; round < 3; ++round) {
    client.send(get("/relay"));
    if (round == 0) peer = upstream_.accept();
    ASSERT_TRUE(peer.read_until("\r\n\r\n{}"));
    begin(client, peer);
    for (int i = 0; i < 100; ++i) {
      peer.send(chunk("x"));
      ASSERT_EQ(client.read_chunk(), "x");
    }
    peer.send(chunk("two ") + chunk("three"));
    EXPECT_EQ(client.read_chunk(), "two three") << "pieces that arrive together are sent together";
    peer.send("1");
    peer.send("0\r\n0123456");
    EXPECT_EQ(client.read_chunk(), "0123456") << "half a chunk";
    peer.send("789abcdef\r\n0\r");
    EXPECT_EQ(client.read_chunk(), "789abcdef");
    peer.send("\n\r\n");
    EXPECT_EQ(client.read_chunk(), "");
  }
  EXPECT_EQ(client_metrics_.counter("footnote_upstream_requests_total", "", {{"provider", "upstream"}, {"code", "200"}}).value(), 3);
}

TEST_P(ServerRelayLongTest, MoreStreamsThanATurnServes) {
  start();
  constexpr std::size_t kStreams = 300;
  std::vector<std::pair<TestSocket, TestSocket>> streams;
  for (std::size_t i = 0; i < kStreams; ++i) {
    TestSocket client = ask();
    TestSocket peer = accept();
    begin(client, peer);
    streams.emplace_back(std::move(client), std::move(peer));
  }
  for (int round = 0; round < 3; ++round) {
    for (auto& [client, peer] : streams) peer.send(chunk(fmt::format("round {}", round)));
    for (auto& [client, peer] : streams) ASSERT_EQ(client.read_chunk(), fmt::format("round {}", round));
  }
  for (auto& [client, peer] : streams) peer.send("0\r\n\r\n");
  for (auto& [client, peer] : streams) EXPECT_EQ(client.read_chunk(), "");
  EXPECT_TRUE(eventually([&] { return calls_open() == 0; }));
}

TEST_P(ServerRelayLongTest, AClientThatLeavesReleasesTheUpstream) {
  start();
  TestSocket client = ask();
  TestSocket peer = accept();
  begin(client, peer);
  client.close();
  EXPECT_EQ(peer.read_to_end(), "") << "closed without further bytes";
  EXPECT_TRUE(eventually([&] { return calls_open() == 0 && ended_with() == ErrorCode::kCancelled; }));
  EXPECT_TRUE(eventually([&] { return server_->all_quiet(); }));
}

TEST_P(ServerRelayLongTest, WhatAnUpstreamBreaksOffDoesNotLookWhole) {
  start();
  for (const std::string_view head : {kChunkedHead, kUntilCloseHead}) {
    TestSocket client = ask();
    TestSocket peer = accept();
    begin(client, peer, head);
    peer.close_with_reset();
    EXPECT_EQ(client.read_to_end(), "") << head;
    EXPECT_TRUE(eventually([&] { return ended_with() == ErrorCode::kUnavailable; }));
    MutexLock lock(mutex_);
    ends_.clear();
  }
  TestSocket client = ask();
  TestSocket peer = accept();
  begin(client, peer);
  peer.close();
  EXPECT_EQ(client.read_to_end(), "");
  EXPECT_TRUE(eventually([&] { return ended_with() == ErrorCode::kUnavailable; }));
}

TEST_P(ServerRelayLongTest, AnAnswerMayEndWithItsConnection) {
  start();
  TestSocket client = ask();
  TestSocket peer = accept();
  begin(client, peer, kUntilCloseHead);
  peer.send("the end");
  peer.close();
  EXPECT_EQ(client.read_chunk(), "the end");
  EXPECT_EQ(client.read_chunk(), "");
  EXPECT_EQ(ended_with(), std::nullopt);
}

TEST_P(ServerRelayLongTest, NonsenseInTheMiddleCutsTheAnswer) {
  start();
  TestSocket client = ask();
  TestSocket peer = accept();
  begin(client, peer);
  peer.send("nonsense\r\n");
  EXPECT_EQ(client.read_to_end(), "");
  EXPECT_EQ(peer.read_to_end(), "");
  EXPECT_TRUE(eventually([&] { return ended_with() == ErrorCode::kUnavailable; }));
}

TEST_P(ServerRelayLongTest, SilenceCutsTheAnswer) {
  ClientOptions options;
  options.silence_timeout = 500ms;
  start({}, std::move(options));
  TestSocket client = ask();
  TestSocket peer = accept();
  begin(client, peer);
  EXPECT_EQ(client.read_to_end(), "");
  EXPECT_EQ(peer.read_to_end(), "");
  EXPECT_TRUE(eventually([&] { return ended_with() == ErrorCode::kUnavailable; }));
}

TEST_P(ServerRelayLongTest, TheRoutesTimeEndsACallThatTalksOn) {
  start({}, {}, nullptr, 1s);
  TestSocket client = ask();
  TestSocket peer = accept();
  peer.send(kChunkedHead);
  while (peer.send(chunk("on and on"))) std::this_thread::sleep_for(1ms);
  EXPECT_TRUE(eventually([&] { return ended_with() == ErrorCode::kDeadlineExceeded && calls_open() == 0; }));
}

TEST_P(ServerRelayLongTest, AClientThatPausesGetsAllOfIt) {
  start();
  TestSocket client = ask(4096);
  TestSocket peer = accept();
  begin(client, peer);
  constexpr int kPieces = 256;
  const std::string piece = chunk(std::string(32 << 10, 'x'));
  std::thread sender([&] {
    for (int i = 0; i < kPieces; ++i) peer.send(piece);
    for (int i = 0; i < 3 * kPiecesBeforeLoop; ++i) {
      peer.send(chunk("y"));
      std::this_thread::sleep_for(1ms);
    }
    peer.send("0\r\n\r\n");
  });
  std::this_thread::sleep_for(50ms);
  std::string body;
  while (const auto bytes = client.read_chunk()) {
    if (bytes->empty()) break;
    body += *bytes;
  }
  sender.join();
  EXPECT_EQ(body, std::string(kPieces * (32 << 10), 'x') + std::string(3 * kPiecesBeforeLoop, 'y'));
}

TEST_P(ServerRelayLongTest, SilenceBetweenEventsIsFilled) {
  ServerOptions options;
  options.sse_keep_alive = 20ms;
  start(std::move(options), {}, [this](ResponseStream& response) { return std::make_unique<AskTwice>(response, request("/again")); });
  TestSocket client = ask();
  TestSocket peer = accept();
  peer.send(kChunkedHead);
  EXPECT_TRUE(client.read_answer(true));
  const auto next = [&] {
    auto bytes = client.read_chunk();
    while (bytes == ": keep-alive\n\n") bytes = client.read_chunk();
    return bytes;
  };
  for (int i = 0; i < kPiecesBeforeLoop + 2; ++i) {
    peer.send(chunk("on"));
    ASSERT_EQ(next(), "data: on\n\n");
  }
  EXPECT_EQ(client.read_chunk(), ": keep-alive\n\n");
  EXPECT_EQ(client.read_chunk(), ": keep-alive\n\n");
  peer.send(chunk("throw"));
  EXPECT_EQ(next(), std::nullopt) << "an exception truncates the response";
}

TEST_P(ServerRelayLongTest, ADrainLetsItFinishAndAStopCutsIt) {
  start();
  TestSocket client = ask();
  TestSocket peer = accept();
  begin(client, peer);
  std::thread drain([&] { (*server_)->drain(kPatience); });
  peer.send(chunk("one") + "0\r\n\r\n");
  EXPECT_EQ(client.read_chunk(), "one");
  EXPECT_EQ(client.read_chunk(), "");
  drain.join();

  start();
  TestSocket cut = ask();
  TestSocket cut_up = accept();
  begin(cut, cut_up);
  server_->stop();
  EXPECT_EQ(cut_up.read_to_end(), "");
  EXPECT_EQ(cut.read_to_end(), "");
  EXPECT_EQ(calls_open(), 0);
}

}  // namespace
}  // namespace footnote::http
