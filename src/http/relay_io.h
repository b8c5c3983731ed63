#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

// Internal to this directory: include only from its .cpp files.
namespace footnote::http {

/// Two sockets: one is read, the other is written.
struct RelayPair {
  int from = -1;
  int to = -1;
  std::string output;  ///< Written by RelayIo::write; owned by the I/O from then until on_written.
  // Used only by the I/O.
  bool reading = false;
  bool writing = false;
  bool stopping = false;
  bool stopped = false;
};

/// Reads and writes many pairs on one thread, which also creates it and makes every call. A pair must live until on_stopped is called for
/// it or the RelayIo is destroyed.
class RelayIo {
 public:
  /// Called from `dispatch`, and from within `write` and `stop` if there is nothing to wait for.
  class Handler {
   public:
    virtual ~Handler() = default;
    virtual void on_read(RelayPair& pair, std::string_view bytes) = 0;
    /// No more input; `error` 0 means that the peer closed. The handler must stop the pair.
    virtual void on_read_end(RelayPair& pair, int error) = 0;
    /// How many bytes the kernel accepted without waiting for room; 0 on error.
    virtual void on_written(RelayPair& pair, std::size_t bytes, int error) = 0;
    /// No operation is pending for this pair any more.
    virtual void on_stopped(RelayPair& pair) = 0;
  };

  virtual ~RelayIo() = default;

  /// Starts reading. False if the system is out of resources.
  [[nodiscard]] virtual bool start(RelayPair& pair) = 0;
  /// Stops reading. Data already read is still delivered, and so is on_written.
  virtual void stop(RelayPair& pair) = 0;
  /// REQUIRES: the pair is started, and on_written was called for the previous write.
  virtual void write(RelayPair& pair) = 0;

  /// Submits pending writes, then waits for events, at most `time_max`. Waits at least `gather_time` to batch events, unless a turn is
  /// already full. Other threads end the wait by writing to the descriptor passed at construction.
  virtual void wait(std::chrono::nanoseconds time_max, std::chrono::nanoseconds gather_time) = 0;
  virtual void dispatch() = 0;
};

/// Uses epoll with `recv` and `send`. Null if the system has no descriptor left. `wake`: an eventfd.
std::unique_ptr<RelayIo> make_epoll_relay_io(int wake, RelayIo::Handler& handler);
/// Uses io_uring: one system call for all input and output. Null if the kernel lacks it (before 6.1) or denies it (common in containers).
std::unique_ptr<RelayIo> make_uring_relay_io(int wake, RelayIo::Handler& handler);

}  // namespace footnote::http
