#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <thread>
#include <utility>

#include "http/relay_io.h"

namespace footnote::http {

namespace {

/// Sockets handled per turn; the others wait for the next turn.
constexpr std::size_t kReadyMax = 128;
constexpr std::size_t kReadBytes = 16 << 10;
constexpr std::chrono::milliseconds kWaitMax{60'000};

class EpollRelayIo final : public RelayIo {
 public:
  EpollRelayIo(int set, int wake, Handler& handler) : set_(set), wake_(wake), handler_(handler) {}
  ~EpollRelayIo() override { ::close(set_); }

  [[nodiscard]] bool watch(int descriptor, RelayPair* pair) const {
    epoll_event entry{};
    entry.events = EPOLLIN;
    entry.data.ptr = pair;
    return ::epoll_ctl(set_, EPOLL_CTL_ADD, descriptor, &entry) == 0;
  }

  bool start(RelayPair& pair) override { return watch(pair.from, &pair); }

  void stop(RelayPair& pair) override {
    if (std::exchange(pair.stopped, true)) return;
    epoll_event ignored{};
    ::epoll_ctl(set_, EPOLL_CTL_DEL, pair.from, &ignored);
    handler_.on_stopped(pair);
  }

  void write(RelayPair& pair) override {
    const ssize_t sent = ::send(pair.to, pair.output.data(), pair.output.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    handler_.on_written(pair, static_cast<std::size_t>(std::max<ssize_t>(sent, 0)), sent < 0 ? errno : 0);
  }

  void wait(std::chrono::nanoseconds time_max, std::chrono::nanoseconds gather_time) override {
    if (gather_time.count() > 0) std::this_thread::sleep_for(gather_time);
    const auto limit = std::min(std::chrono::ceil<std::chrono::milliseconds>(time_max), kWaitMax);
    count_ = ::epoll_wait(set_, ready_.data(), static_cast<int>(ready_.size()), static_cast<int>(limit.count()));
  }

  void dispatch() override {
    for (int i = 0; i < count_; ++i) {
      if (ready_[static_cast<std::size_t>(i)].data.ptr == nullptr) {
        std::uint64_t ignored = 0;
        (void)!::read(wake_, &ignored, sizeof ignored);
      } else {
        read(*static_cast<RelayPair*>(ready_[static_cast<std::size_t>(i)].data.ptr));
      }
    }
    count_ = 0;
  }

 private:
  void read(RelayPair& pair) {
    const ssize_t size = ::recv(pair.from, buffer_.data(), buffer_.size(), MSG_DONTWAIT);
    if (size > 0) return handler_.on_read(pair, {buffer_.data(), static_cast<std::size_t>(size)});
    if (size == 0) return handler_.on_read_end(pair, 0);
    if (errno != EAGAIN && errno != EINTR) handler_.on_read_end(pair, errno);
  }

  const int set_;
  const int wake_;
  Handler& handler_;
  int count_ = 0;
  std::array<epoll_event, kReadyMax> ready_;
  std::array<char, kReadBytes> buffer_;  // shared by all pairs, so that it stays in the CPU cache
};

}  // namespace

std::unique_ptr<RelayIo> make_epoll_relay_io(int wake, RelayIo::Handler& handler) {
  const int set = ::epoll_create1(EPOLL_CLOEXEC);
  if (set < 0) return nullptr;
  auto io = std::make_unique<EpollRelayIo>(set, wake, handler);
  return io->watch(wake, nullptr) ? std::move(io) : nullptr;
}

}  // namespace footnote::http
