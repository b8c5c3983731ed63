#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <atomic>
#include <functional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "http/test_socket.h"

// For tests of this directory: sites on loopback that a test scripts, and listeners that nothing may reach.
namespace footnote::testing {

using http::testing::TestSocket;

/// A request as it arrived: its first line's target, and all of its lines.
struct SiteRequest {
  std::string target;
  std::string head;
};

/// Serves each connection with `serve` on a thread of its own, until its end.
class TestSite {
 public:
  using Serve = std::function<void(const SiteRequest&, TestSocket&)>;

  explicit TestSite(Serve serve, const char* address = "127.0.0.1") : serve_(std::move(serve)) {
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in bound{};
    bound.sin_family = AF_INET;
    ::inet_pton(AF_INET, address, &bound.sin_addr);
    socklen_t size = sizeof bound;
    if (::bind(listener_, reinterpret_cast<const sockaddr*>(&bound), size) != 0 || ::listen(listener_, 64) != 0) std::abort();
    ::getsockname(listener_, reinterpret_cast<sockaddr*>(&bound), &size);
    port_ = ntohs(bound.sin_port);
    accepting_ = std::jthread([this] { accept(); });
  }
  ~TestSite() {
    stopping_ = true;
    ::shutdown(listener_, SHUT_RDWR);
    accepting_.join();
    {
      const MutexLock lock(mutex_);
      for (const int peer : peers_) ::shutdown(peer, SHUT_RDWR);
    }
    connections_.clear();
    ::close(listener_);
  }

  std::uint16_t port() const { return port_; }
  std::string url(std::string_view path) const { return "http://127.0.0.1:" + std::to_string(port_) + std::string(path); }
  std::size_t connection_count() const { return count_.load(); }
  bool is_stopping() const { return stopping_.load(); }
  std::vector<SiteRequest> requests() const {
    const MutexLock lock(mutex_);
    return requests_;
  }

 private:
  void accept() {
    while (true) {
      const int peer = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (peer < 0) return;
      ++count_;
      const MutexLock lock(mutex_);
      peers_.push_back(peer);
      connections_.emplace_back([this, peer] { answer(TestSocket(::dup(peer)), peer); });
    }
  }
  void answer(TestSocket socket, int peer) {
    if (const auto head = socket.read_until("\r\n\r\n")) {
      const std::size_t begin = head->find(' ') + 1;
      const SiteRequest request{head->substr(begin, head->find(' ', begin) - begin), *head};
      {
        const MutexLock lock(mutex_);
        requests_.push_back(request);
      }
      serve_(request, socket);
    }
    ::shutdown(peer, SHUT_RDWR);
    const MutexLock lock(mutex_);
    std::erase(peers_, peer);
    ::close(peer);
  }

  const Serve serve_;
  int listener_ = -1;
  std::uint16_t port_ = 0;
  std::atomic<bool> stopping_{false};
  std::atomic<std::size_t> count_{0};
  mutable Mutex mutex_;
  std::vector<int> peers_ FOOTNOTE_TSA(guarded_by(mutex_));
  std::vector<SiteRequest> requests_ FOOTNOTE_TSA(guarded_by(mutex_));
  std::vector<std::jthread> connections_;
  std::jthread accepting_;
};

inline std::string response(std::string_view status, std::string_view headers, std::string_view body) {
  return "HTTP/1.1 " + std::string(status) + "\r\n" + std::string(headers) + "Content-Length: " + std::to_string(body.size()) +
         "\r\nConnection: close\r\n\r\n" + std::string(body);
}

inline std::string page(std::string_view body) { return response("200 OK", "Content-Type: text/html; charset=utf-8\r\n", body); }

inline std::string redirect(std::string_view to) { return response("302 Found", "Location: " + std::string(to) + "\r\n", ""); }

/// A port of loopback, IPv4 and IPv6, that counts who comes.
class Canary {
 public:
  Canary() {
    for (const int family : {AF_INET, AF_INET6}) {
      const int listener = ::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
      sockaddr_in6 v6{};
      v6.sin6_family = AF_INET6;
      v6.sin6_port = htons(port_);
      const int one = 1;
      if (family == AF_INET6) ::setsockopt(listener, IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof one);
      sockaddr_in v4{};
      v4.sin_family = AF_INET;
      auto* address = family == AF_INET ? reinterpret_cast<sockaddr*>(&v4) : reinterpret_cast<sockaddr*>(&v6);
      socklen_t size = family == AF_INET ? sizeof v4 : sizeof v6;
      // Every address of this machine: 127.0.0.0/8 and those of its networks.
      if (::bind(listener, address, size) == 0 && ::listen(listener, 64) == 0) listeners_.push_back(listener);
      if (family == AF_INET && ::getsockname(listener, address, &size) == 0) port_ = ntohs(v4.sin_port);
    }
  }
  ~Canary() {
    for (const int listener : listeners_) ::close(listener);
  }
  std::uint16_t port() const { return port_; }
  std::size_t visitors() const {
    std::size_t out = 0;
    for (const int listener : listeners_) {
      for (int peer = 0; (peer = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC)) >= 0; ++out) ::close(peer);
    }
    return out;
  }

 private:
  std::uint16_t port_ = 0;
  std::vector<int> listeners_;
};

}  // namespace footnote::testing
