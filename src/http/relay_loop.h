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

// For .cpp files of this folder only.
namespace footnote::http {

/// Hands on, in one thread of its own, long answers that come piece by piece: all upstreams are read and all clients written to in one
/// turn, by as few calls of the kernel as it allows. It has plain sockets only, and only as long as all goes well: a client that does not
/// take at once what there is for it, an end, an error, and the stream is given back. Thread-safe.
class RelayLoop : private RelayIo::Handler {
 public:
  enum class Backend { kBest, kEpoll };
  using Clock = std::chrono::steady_clock;

  enum class End {
    kDone,           ///< on_bytes said so.
    kUpstreamEnded,  ///< With `error` 0 by closing its side, else broken.
    kSilent,         ///< For longer than Times::silence_max.
    kGivenBack,      ///< By give_back, or because the client did not take all.
  };
  struct Ended {
    End end = End::kGivenBack;
    int error = 0;
    std::string unsent;  ///< Made for the client, and not written.
  };

  /// Called on the loop's thread, one at a time; must not wait, nor throw.
  class Stream {
   public:
    virtual ~Stream() = default;
    /// Appends to `output` what the client is to get for these bytes. False: no more is needed. Called on for what was read already.
    virtual bool on_bytes(std::string_view bytes, std::string& output) = 0;
    /// Nothing came for Times::keep_alive_time.
    virtual void on_keep_alive(std::string& output) = 0;
    /// The last call: the sockets are no longer used. The stream may go at once.
    virtual void on_end(Ended ended) = 0;
  };
  struct Times {
    std::chrono::milliseconds silence_max;
    std::optional<std::chrono::milliseconds> keep_alive_time;
  };

  /// Throws std::system_error where the system has no descriptor or thread left.
  explicit RelayLoop(Backend backend);
  /// Streams that it still has hear nothing more.
  ~RelayLoop() override;
  RelayLoop(const RelayLoop&) = delete;
  RelayLoop& operator=(const RelayLoop&) = delete;

  /// Neither socket may be closed, nor the stream go, before Stream::on_end was called or the loop is gone. The answer is for give_back.
  std::uint64_t add(int upstream, int client, Stream& stream, Times times);
  /// Asks for an early end. Nothing happens where the stream has ended.
  void give_back(std::uint64_t id);

 private:
  struct Link : RelayPair {
    std::uint64_t id = 0;
    Stream* stream = nullptr;
    Times times{};
    std::string made;  // for the client, to be written when what is on its way is written
    std::optional<Ended> ended;
    Clock::time_point heard;   // something from the upstream
    Clock::time_point spoken;  // something to the client
    bool to_write = false;     // in to_write_
  };
  struct Command {
    std::uint64_t id = 0;
    std::unique_ptr<Link> added;  ///< Null: is to be given back.
  };

  void send(Command command);
  void run();
  bool take_commands();
  void start(std::unique_ptr<Link> link);
  std::chrono::nanoseconds gather_time();
  void look_at_times();
  void look_at(Link& link);
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

  // The thread's own.
  std::map<std::uint64_t, std::unique_ptr<Link>> links_;
  std::unique_ptr<RelayIo> io_;
  std::vector<Link*> to_write_;
  std::vector<Link*> stopped_;
  Clock::time_point now_;  // the beginning of this turn
  Clock::time_point last_turn_;
  std::size_t reads_ = 0;  // of this turn
  bool has_bulk_ = false;  // among them
  bool gathering_ = false;
  Clock::time_point next_look_ = Clock::time_point::max();  // no deadline is before it

  std::thread thread_;
};

}  // namespace footnote::http
