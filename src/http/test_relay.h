#pragma once

#include <gtest/gtest.h>

#include <limits>
#include <stdexcept>

#include "http/client.h"
#include "http/test_server.h"

// For tests of this directory: relays from an upstream that the test itself plays.
namespace footnote::http::testing {

/// Forwards bytes as they arrive, with the upstream's status. Records how each call ended.
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

/// I/O backend of the relay loop.
enum class Loops { kBest, kEpoll };
inline std::string name_of_loops(const ::testing::TestParamInfo<Loops>& info) { return info.param == Loops::kBest ? "Best" : "Epoll"; }

/// A server that answers /relay by relaying the upstream's /; the upstream is a listener that the test plays.
class ServerRelayTest : public ::testing::TestWithParam<Loops> {
 protected:
  using MakeRelay = std::function<std::unique_ptr<Relay>(ResponseStream&)>;

  void start(ServerOptions options = {}, ClientOptions client = {}, MakeRelay make = nullptr,
             std::chrono::milliseconds timeout = std::chrono::minutes{1}) {
    client_ = std::make_unique<Client>(std::move(client), client_metrics_);
    Route route = streaming("/relay", [this, make](const Request&, const CallContext&, ResponseStream& response) {
      response.relay(*client_, request(), make ? make(response) : std::make_unique<PassOn>(response, &ends_, &mutex_));
    });
    route.timeout = timeout;
    options.io_uring = GetParam() == Loops::kBest;
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
  /// Accepts the upstream's side of a request and reads the request.
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

/// Sends a second request if the first fails; writes events.
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

}  // namespace footnote::http::testing
