#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "http/relay_io.h"

// Internal to this directory: include only from its .cpp files.
namespace footnote::http {

/// Forwards long streamed responses on one thread: each turn reads all upstreams and writes to all clients with as few system calls as
/// possible. Handles plain sockets only, and only while everything goes well: when a client does not accept all its output at once, on end
/// of stream or on an error, the stream is given back. Thread-safe.
class RelayLoop : private RelayIo::Handler {
 public:
  enum class Backend { kBest, kEpoll };
  using Clock = std::chrono::steady_clock;

  enum class End {
    kDone,           ///< on_bytes returned false.
    kUpstreamEnded,  ///< `error` 0: it closed; otherwise the connection broke.
    kSilent,         ///< No input for longer than Times::silence_max.
    kGivenBack,      ///< Ended by give_back, or because the client did not accept all output.
  };
  struct Ended {
    End end = End::kGivenBack;
    int error = 0;
    std::string unsent;  ///< Output produced for the client but not written.
  };

  /// Called on the loop's thread, one at a time; must not block or throw.
  class Stream {
   public:
    virtual ~Stream() = default;
    /// Appends the client's output for these bytes to `output`. False: done. Still called for data that was already read.
    virtual bool on_bytes(std::string_view bytes, std::string& output) = 0;
    /// No input for Times::keep_alive_time.
    virtual void on_keep_alive(std::string& output) = 0;
    /// The last call: the sockets are no longer used, and the stream may be destroyed.
    virtual void on_end(Ended ended) = 0;
  };
  struct Times {
    std::chrono::milliseconds silence_max;
    std::optional<std::chrono::milliseconds> keep_alive_time;
  };

  /// Throws std::system_error if the system has no descriptor or thread left.
  explicit RelayLoop(Backend backend);
  /// Remaining streams get no further calls.
  ~RelayLoop() override;
  RelayLoop(const RelayLoop&) = delete;
  RelayLoop& operator=(const RelayLoop&) = delete;

  /// The sockets must stay open and the stream alive until Stream::on_end is called or the loop is destroyed. Returns the id for give_back.
  std::uint64_t add(int upstream, int client, Stream& stream, Times times);
  /// Requests an early end. No effect if the stream has already ended.
  void give_back(std::uint64_t id);

 private:
  struct Link : RelayPair {
    std::uint64_t id = 0;
    Stream* stream = nullptr;
    Times times{};
    std::string made;  // output to write after the write in progress
    std::optional<Ended> ended;
    Clock::time_point last_input;   // last input from the upstream
    Clock::time_point last_output;  // last output to the client
    bool to_write = false;          // listed in to_write_
  };
  struct Command {
    std::uint64_t id = 0;
    std::unique_ptr<Link> added;  ///< Null: give the stream back.
  };

  void send(Command command);
  void run();
  bool take_commands();
  void start(std::unique_ptr<Link> link);
  std::chrono::nanoseconds gather_time();
  void check_deadlines();
  void check_times(Link& link);
  void write_all();
  void remove_stopped();
  void await_write(Link& link);
  void end(Link& link, End end, int error = 0);

  void on_read(RelayPair& pair, std::string_view bytes) override;
  void on_read_end(RelayPair& pair, int error) override;
  void on_written(RelayPair& pair, std::size_t bytes, int error) override;
  void on_stopped(RelayPair& pair) override;

  const int wake_;  // an eventfd

  Mutex mutex_;
  std::vector<Command> commands_ FOOTNOTE_TSA(guarded_by(mutex_));
  std::uint64_t ids_ FOOTNOTE_TSA(guarded_by(mutex_)) = 0;
  bool ending_ FOOTNOTE_TSA(guarded_by(mutex_)) = false;

  // Used only by the thread.
  std::map<std::uint64_t, std::unique_ptr<Link>> links_;
  std::unique_ptr<RelayIo> io_;
  std::vector<Link*> to_write_;
  std::vector<Link*> stopped_;
  Clock::time_point now_;  // start of this turn
  Clock::time_point last_turn_;
  std::size_t reads_ = 0;  // reads in this turn
  bool has_bulk_ = false;  // one of those reads was bulk
  bool gathering_ = false;
  Clock::time_point next_check_ = Clock::time_point::max();  // the earliest deadline, or earlier

  std::thread thread_;
};

}  // namespace footnote::http
