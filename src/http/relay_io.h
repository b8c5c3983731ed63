#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

// For .cpp files of this folder only.
namespace footnote::http {

/// Two sockets, of which one is read and the other written.
struct RelayPair {
  int from = -1;
  int to = -1;
  std::string output;  ///< What RelayIo::write writes; the I/O's from then to on_written.
  // The I/O's alone.
  bool reading = false;
  bool writing = false;
  bool stopping = false;
  bool stopped = false;
};

/// Reads and writes many pairs on one thread, which makes it and calls everything. A pair must live until on_stopped was called for it, or
/// the I/O is gone.
class RelayIo {
 public:
  /// Called by `dispatch`, and by `write` and `stop` before they return where there is nothing to wait for.
  class Handler {
   public:
    virtual ~Handler() = default;
    virtual void on_read(RelayPair& pair, std::string_view bytes) = 0;
    /// There is nothing more to read; `error` 0: because the peer has ended. The pair is to be stopped.
    virtual void on_read_end(RelayPair& pair, int error) = 0;
    /// How much of the output the kernel took, which never waits for room. With an error, nothing.
    virtual void on_written(RelayPair& pair, std::size_t bytes, int error) = 0;
    /// Nothing is under way for this pair any more.
    virtual void on_stopped(RelayPair& pair) = 0;
  };

  virtual ~RelayIo() = default;

  /// Reads from now on whatever comes. False where the system has no room for it.
  [[nodiscard]] virtual bool start(RelayPair& pair) = 0;
  /// Ends the reading. What was read meanwhile still comes, and so does on_written.
  virtual void stop(RelayPair& pair) = 0;
  /// REQUIRES: the pair is started, and on_written was called for what was written before.
  virtual void write(RelayPair& pair) = 0;

  /// Until there is something to dispatch, at most this long; but no shorter than `gather_time`, however much there is, unless it is more
  /// than a turn has room for. What was written is on its way before. Other threads end the wait by writing to the descriptor that the I/O
  /// was made with.
  virtual void wait(std::chrono::nanoseconds time_max, std::chrono::nanoseconds gather_time) = 0;
  virtual void dispatch() = 0;
};

/// By `recv` and `send` of what epoll says is ready. Null where the system has no descriptor left. `wake`: an eventfd.
std::unique_ptr<RelayIo> make_epoll_relay_io(int wake, RelayIo::Handler& handler);
/// By io_uring: one call of the kernel for all that has come and all that goes out. Null where the kernel does not have it (before 6.1) or
/// does not grant it (containers often may not use it).
std::unique_ptr<RelayIo> make_uring_relay_io(int wake, RelayIo::Handler& handler);

}  // namespace footnote::http
