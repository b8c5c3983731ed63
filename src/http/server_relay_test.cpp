#include <gtest/gtest.h>

#include <atomic>
#include <limits>

#include "http/client.h"
#include "http/test_server.h"

namespace footnote::http {
namespace {

using namespace testing;

/// Bytes as they come, under the upstream's status. Notes how each call ended.
class PassOn : public Relay {
 public:
  PassOn(ResponseStream& response, std::vector<Result<int>>* ends = nullptr, Mutex* mutex = nullptr)
      : response_(response), ends_(ends), mutex_(mutex) {}

  Result<void> on_head(int status, const Headers& headers) override {
    Headers out;
    if (const auto type = headers.find("content-type")) out.set("content-type", *type);
    writer_ = &response_.start_bytes(status, out);
    return {};
  }
  Result<void> on_body(std::string_view bytes) override { return writer_->write_bytes(bytes); }
  std::optional<ClientRequest> on_end(const Result<int>& ended) override {
    if (ends_ != nullptr) {
      MutexLock lock(*mutex_);
      ends_->push_back(ended);
    }
    if (ended) return std::nullopt;
    if (writer_ == nullptr) {
      response_.reply(Response::text(502, "text/plain", ended.error().message));
    } else {
      response_.cut();
    }
    return std::nullopt;
  }

 protected:
  ResponseStream& response_;
  ByteWriter* writer_ = nullptr;

 private:
  std::vector<Result<int>>* ends_;
  Mutex* mutex_;
};

/// A server that answers /relay from what the upstream says at /; the upstream is a listener that the test plays.
class ServerRelayTest : public ::testing::Test {
 protected:
  using MakeRelay = std::function<std::unique_ptr<Relay>(ResponseStream&)>;

  void start(ServerOptions options = {}, ClientOptions client = {}, MakeRelay make = nullptr,
             std::chrono::milliseconds timeout = std::chrono::minutes{1}) {
    client_ = std::make_unique<Client>(std::move(client), client_metrics_);
    Route route = streaming("/relay", [this, make](const Request&, const CallContext&, ResponseStream& response) {
      response.relay(*client_, request(), make ? make(response) : std::make_unique<PassOn>(response, &ends_, &mutex_));
    });
    route.timeout = timeout;
    server_ = std::make_unique<TestServer>(std::vector{route}, std::move(options));
  }
  ClientRequest request(std::string_view path = "/") const {
    return {.method = Method::kPost,
            .url = fmt::format("http://127.0.0.1:{}{}", upstream_.port(), path),
            .headers = {},
            .body = "{}",
            .response_bytes_max = std::numeric_limits<std::size_t>::max()};
  }
  TestSocket ask(int receive_buffer = 0) {
    TestSocket client = server_->connect(receive_buffer);
    client.send(get("/relay"));
    return client;
  }
  /// The upstream's side of a request that has come.
  TestSocket accept() {
    TestSocket peer = upstream_.accept();
    EXPECT_TRUE(peer.read_until("\r\n\r\n{}"));
    return peer;
  }
  std::optional<ErrorCode> ended_with() {
    MutexLock lock(mutex_);
    return ends_.empty() || ends_.back() ? std::nullopt : std::optional(ends_.back().error().code);
  }
  std::int64_t calls_open() { return client_metrics_.gauge("footnote_upstream_calls_open", "").value(); }

  static constexpr std::string_view kChunkedHead =
      "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
  static std::string chunk(std::string_view bytes) { return fmt::format("{:x}\r\n{}\r\n", bytes.size(), bytes); }

  TestListener upstream_;
  Metrics client_metrics_;
  Mutex mutex_;
  std::vector<Result<int>> ends_;
  std::unique_ptr<Client> client_;
  std::unique_ptr<TestServer> server_;
};

TEST_F(ServerRelayTest, HandsOnWhatComesAsItComesAndHoldsNoWorker) {
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
  // What came together goes out together.
  second_up.send(chunk("two ") + chunk("three ") + chunk("four"));
  EXPECT_EQ(second.read_chunk(), "two three four");
  first_up.send("0\r\n\r\n");
  second_up.send("0\r\n\r\n");
  EXPECT_EQ(first.read_chunk(), "");
  EXPECT_EQ(second.read_chunk(), "");
  EXPECT_TRUE(eventually([&] { return server_->gauge("footnote_sse_open_streams") == 0 && calls_open() == 0; }));
}

TEST_F(ServerRelayTest, BothConnectionsServeAnotherRequest) {
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

TEST_F(ServerRelayTest, IdleUpstreamsAreClosedInTime) {
  ClientOptions options;
  options.idle_time_max = 20ms;
  start({}, std::move(options));
  TestSocket client = ask();
  TestSocket peer = accept();
  peer.send("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok");
  EXPECT_EQ(client.read_answer()->body, "ok");
  EXPECT_EQ(peer.read_to_end(), "");
}

TEST_F(ServerRelayTest, AClientThatStopsReadingPausesTheUpstreamAndThenReleasesIt) {
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
  // The sender ends only by the release: before, it stood still with what the sockets' buffers hold.
  sender.join();
  EXPECT_LT(sent, 64U << 20);
  EXPECT_TRUE(eventually([&] { return calls_open() == 0 && ended_with() == ErrorCode::kCancelled; }));
  EXPECT_TRUE(eventually([&] { return server_->gauge("footnote_sse_open_streams") == 0; }));
}

TEST_F(ServerRelayTest, ASlowClientGetsAllOfIt) {
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

TEST_F(ServerRelayTest, AClientThatLeavesReleasesTheUpstream) {
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
    EXPECT_EQ(peer.read_to_end(), "") << "closed, without another byte";
    EXPECT_TRUE(eventually([&] { return calls_open() == 0 && ended_with() == ErrorCode::kCancelled; }));
  }
  EXPECT_TRUE(eventually([&] { return server_->all_quiet(); }));
}

TEST_F(ServerRelayTest, WhatAnUpstreamBreaksOffDoesNotLookWhole) {
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

TEST_F(ServerRelayTest, AnUpstreamThatIsAwaySilentOrMadIsAnsweredFor) {
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
    EXPECT_EQ(client.read_answer()->status, 502) << "mad";
  }
  upstream_.close();
  EXPECT_EQ(server_->ask(get("/relay")).status, 502) << "away";
}

TEST_F(ServerRelayTest, TheRoutesTimeEndsACall) {
  start({}, {}, nullptr, 100ms);
  TestSocket client = ask();
  TestSocket peer = accept();
  EXPECT_EQ(client.read_answer()->status, 502);
  EXPECT_EQ(ended_with(), ErrorCode::kDeadlineExceeded);
}

TEST_F(ServerRelayTest, AnEndlessLineIsHandedOnInLittleMemory) {
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

/// Asks a second time after a first no; writes events.
class AskTwice final : public Relay {
 public:
  AskTwice(ResponseStream& response, ClientRequest second) : response_(response), second_(std::move(second)) {}
  Result<void> on_head(int status, const Headers&) override {
    status_ = status;
    if (status == 200) writer_ = &response_.start_sse({});
    return {};
  }
  Result<void> on_body(std::string_view bytes) override {
    if (bytes.starts_with("throw")) throw std::runtime_error("oh");
    return writer_ == nullptr ? Result<void>{} : writer_->send(bytes);
  }
  std::optional<ClientRequest> on_end(const Result<int>&) override {
    if (status_ == 404 && second_) return std::exchange(second_, std::nullopt);
    if (writer_ == nullptr) response_.reply(Response::text(418, "text/plain", "no"));
    return std::nullopt;
  }

 private:
  ResponseStream& response_;
  std::optional<ClientRequest> second_;
  SseWriter* writer_ = nullptr;
  int status_ = 0;
};

TEST_F(ServerRelayTest, ARelayMayAskAgainAndSpeakInEvents) {
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
  EXPECT_EQ(client.read_chunk(), ": keep-alive\n\n") << "silence is filled";
  EXPECT_EQ(client.read_chunk(), ": keep-alive\n\n");
  peer.send(chunk("two") + "0\r\n\r\n");
  std::optional<std::string> next;
  while ((next = client.read_chunk()) == ": keep-alive\n\n") {
  }
  EXPECT_EQ(next, "data: two\n\n");
  EXPECT_EQ(client.read_chunk(), "");
}

TEST_F(ServerRelayTest, ARelayThatThrowsCutsItsAnswerAlone) {
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

TEST_F(ServerRelayTest, ADrainLetsARelayFinishAndAStopCutsIt) {
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

TEST_F(ServerRelayTest, AnUpstreamThatFailsAgainAndAgainIsLeftAlone) {
  ClientOptions options;
  options.breaker = {.failures_max = 2, .rest_time = std::chrono::minutes{1}};
  start({}, std::move(options));
  for (int i = 0; i < 2; ++i) {
    TestSocket client = ask();
    accept().close();
    EXPECT_EQ(client.read_answer()->status, 502);
  }
  EXPECT_NE(server_->ask(get("/relay")).body.find("left alone"), std::string::npos);
}

TEST_F(ServerRelayTest, ManyAtOnceOnSeveralIoThreads) {
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

TEST_F(ServerRelayTest, HeadAndOldClientsAreServed) {
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
