#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

// For tests of this directory: plain blocking sockets, independent of the code under test.
namespace footnote::http::testing {

using namespace std::chrono_literals;

inline constexpr std::chrono::milliseconds kPatience = 10s;

/// True as soon as `condition` holds; false if it does not within `limit`.
inline bool eventually(const std::function<bool()>& condition, std::chrono::milliseconds limit = kPatience) {
  const auto end = std::chrono::steady_clock::now() + limit;
  while (!condition()) {
    if (std::chrono::steady_clock::now() >= end) return false;
    std::this_thread::sleep_for(1ms);
  }
  return true;
}

inline std::size_t count_open_files() {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) ++count;
  return count;
}

inline sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

/// One response as read from the wire. `body` has the chunk framing removed.
struct Answer {
  int status = 0;
  std::string head;
  std::string body;

  bool has(std::string_view text) const { return head.find(text) != std::string::npos; }
};

/// A stream socket, closed at the end of its scope.
class TestSocket {
 public:
  explicit TestSocket(int descriptor = -1) : descriptor_(descriptor) {}
  /// Connects to a server on this machine; check is_open.
  static TestSocket connect(std::uint16_t port, int receive_buffer = 0) {
    TestSocket out(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (receive_buffer != 0) ::setsockopt(out.descriptor_, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
    const sockaddr_in address = loopback(port);
    if (::connect(out.descriptor_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) out.close();
    return out;
  }
  TestSocket(TestSocket&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)), buffer_(std::move(other.buffer_)) {}
  TestSocket& operator=(TestSocket&& other) noexcept {
    close();
    descriptor_ = std::exchange(other.descriptor_, -1);
    buffer_ = std::move(other.buffer_);
    return *this;
  }
  ~TestSocket() { close(); }

  bool is_open() const { return descriptor_ >= 0; }
  int descriptor() const { return descriptor_; }
  void close() {
    if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
  }
  void close_with_reset() {
    const linger hard{1, 0};
    ::setsockopt(descriptor_, SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
    close();
  }
  void half_close() { ::shutdown(descriptor_, SHUT_WR); }

  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }

  /// Reads more bytes into the buffer; false at end of stream, on error, or if nothing arrives within `limit`.
  bool read_some(std::chrono::milliseconds limit = kPatience) {
    pollfd entry{descriptor_, POLLIN, 0};
    if (::poll(&entry, 1, static_cast<int>(limit.count())) <= 0) return false;
    char bytes[16384];
    const ssize_t size = ::recv(descriptor_, bytes, sizeof bytes, 0);
    if (size <= 0) return false;
    buffer_.append(bytes, static_cast<std::size_t>(size));
    return true;
  }

  /// Everything up to and including `mark`, or nullopt if the peer closes first.
  std::optional<std::string> read_until(std::string_view mark) {
    std::size_t at = 0;
    while ((at = buffer_.find(mark)) == std::string::npos) {
      if (!read_some()) return std::nullopt;
    }
    return take(at + mark.size());
  }
  std::optional<std::string> read_exactly(std::size_t size) {
    while (buffer_.size() < size) {
      if (!read_some()) return std::nullopt;
    }
    return take(size);
  }
  std::string read_to_end() {
    while (read_some()) {
    }
    return std::exchange(buffer_, {});
  }
  /// True if the peer closed (and no unread data is left).
  bool wait_closed(std::chrono::milliseconds limit = kPatience) { return buffer_.empty() && !read_some(limit) && is_at_end(); }

  std::optional<Answer> read_answer(bool head_only = false) {
    Answer answer;
    const auto head = read_until("\r\n\r\n");
    if (!head) return std::nullopt;
    answer.head = *head;
    answer.status = std::atoi(head->c_str() + 9);
    if (head_only || answer.status == 204 || answer.status == 100) return answer;
    if (answer.has("transfer-encoding: chunked")) return read_chunks(answer) ? std::optional(answer) : std::nullopt;
    const std::size_t length = head->find("content-length: ");
    if (length == std::string::npos) return answer;
    const auto body = read_exactly(static_cast<std::size_t>(std::atoll(head->c_str() + length + 16)));
    if (!body) return std::nullopt;
    answer.body = *body;
    return answer;
  }
  /// One chunk's bytes; empty for the last chunk.
  std::optional<std::string> read_chunk() {
    const auto line = read_until("\r\n");
    if (!line) return std::nullopt;
    auto bytes = read_exactly(std::strtoull(line->c_str(), nullptr, 16) + 2);
    if (!bytes) return std::nullopt;
    bytes->resize(bytes->size() - 2);
    return bytes;
  }
  const std::string& buffered() const { return buffer_; }

 private:
  std::string take(std::size_t size) {
    std::string out = buffer_.substr(0, size);
    buffer_.erase(0, size);
    return out;
  }
  bool read_chunks(Answer& answer) {
    while (true) {
      const auto chunk = read_chunk();
      if (!chunk) return false;
      if (chunk->empty()) return true;
      answer.body += *chunk;
    }
  }
  bool is_at_end() const {
    char byte = 0;
    return ::recv(descriptor_, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0 || (errno != EAGAIN && errno != EWOULDBLOCK);
  }

  int descriptor_;
  std::string buffer_;
};

/// An upstream that a test scripts byte by byte.
class TestListener {
 public:
  enum class Listens { kNow, kLater };
  explicit TestListener(Listens listens = Listens::kNow) : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address = loopback(0);
    socklen_t size = sizeof address;
    ::bind(listener_.descriptor(), reinterpret_cast<const sockaddr*>(&address), size);
    if (listens == Listens::kNow) listen();
    ::getsockname(listener_.descriptor(), reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
  }
  std::uint16_t port() const { return port_; }
  void listen() { ::listen(listener_.descriptor(), 16); }
  /// A connection is waiting to be accepted.
  bool has_pending() const {
    pollfd entry{listener_.descriptor(), POLLIN, 0};
    return ::poll(&entry, 1, 0) > 0;
  }
  TestSocket accept() {
    pollfd entry{listener_.descriptor(), POLLIN, 0};
    if (::poll(&entry, 1, static_cast<int>(kPatience.count())) <= 0) return TestSocket();
    return TestSocket(::accept4(listener_.descriptor(), nullptr, nullptr, SOCK_CLOEXEC));
  }
  void close() { listener_.close(); }

 private:
  TestSocket listener_;
  std::uint16_t port_ = 0;
};

}  // namespace footnote::http::testing
