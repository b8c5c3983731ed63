#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/log.h"
#include "http/client.h"
#include "http/server.h"
#include "providers/remote/json_upstream.h"

namespace footnote::testing {

/// A test server on loopback, and a client for it.
class TestUpstream {
 public:
  /// Serves POST for every (pattern, handler); a pattern that starts with "GET " is served as GET.
  explicit TestUpstream(std::vector<std::pair<std::string, http::Handler>> rows, http::ClientOptions client = {})
      : client_(std::move(client), metrics_) {
    set_log_level(LogLevel::kOff);
    std::vector<http::Route> routes;
    for (auto& [pattern, handler] : rows) {
      const bool get = pattern.starts_with("GET ");
      routes.push_back({.method = get ? http::Method::kGet : http::Method::kPost,
                        .pattern = get ? pattern.substr(4) : pattern,
                        .handler = std::move(handler),
                        .body_bytes_max = 32 << 20});
    }
    server_ = http::Server::start({}, std::move(routes), metrics_).value();
  }

  http::Client& client() { return client_; }
  std::string url() const { return fmt::format("http://127.0.0.1:{}", server_->port()); }
  /// Waits between attempts are minimal, so that tests of retries are fast.
  UpstreamOptions options(std::string path = "") const {
    return {.name = "the embedder",
            .settings = "EMBEDDER",
            .base_url = url() + path,
            .key = "sk-canary",
            .retry = {.first_wait = std::chrono::milliseconds{1}, .wait_max = std::chrono::milliseconds{2}}};
  }

 private:
  Metrics metrics_;
  http::Client client_;
  std::unique_ptr<http::Server> server_;  // last: its handlers end first
};

/// A port that is bound but not listening.
class ClosedPort {
 public:
  ClosedPort() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    address_.sin_family = AF_INET;
    address_.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address_;
    ::bind(socket_, reinterpret_cast<const sockaddr*>(&address_), size);
    ::getsockname(socket_, reinterpret_cast<sockaddr*>(&address_), &size);
  }
  ~ClosedPort() { ::close(socket_); }
  ClosedPort(const ClosedPort&) = delete;
  ClosedPort& operator=(const ClosedPort&) = delete;
  int number() const { return ntohs(address_.sin_port); }

 private:
  const int socket_;
  sockaddr_in address_{};
};

}  // namespace footnote::testing
