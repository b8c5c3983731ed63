#pragma once

// Include only from .cpp files of this directory: these headers take 20 s to compile.

// Beast 1.81 asserts that a last chunk arrives in at least five bytes, so a client that sends it byte by byte would abort the process.
// Without the assertion the logic is correct. Therefore include Asio and Beast only through this file.
#define BOOST_DISABLE_ASSERTS
// The thread sanitizer does not understand fences; Asio's queues use locks as well.
#if defined(__SANITIZE_THREAD__)
#define BOOST_ASIO_DISABLE_FENCED_BLOCK
#endif
// g++ 12 reports a mismatched new/delete in Asio's coroutine frame allocator when it inlines only one of the two, and under a sanitizer it
// warns about the empty boost::optional.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/parser.hpp>

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace footnote::http {

namespace asio = boost::asio;
namespace beast = boost::beast;
using Tcp = asio::ip::tcp;
using SystemError = boost::system::error_code;
template <class T>
using Task = asio::awaitable<T>;

/// Completes with values: `auto [error, size] = co_await socket.async_read_some(buffer, kAwait);`
inline constexpr auto kAwait = asio::as_tuple(asio::use_awaitable);

inline constexpr std::chrono::steady_clock::time_point kNever = std::chrono::steady_clock::time_point::max();

/// Calls `expired` once when an armed deadline passes. Use it from one strand only.
class Watchdog {
 public:
  Watchdog(const asio::any_io_executor& executor, std::function<void()> expired) : timer_(executor), expired_(std::move(expired)) {}
  ~Watchdog() { ++*generation_; }
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  void arm(std::chrono::steady_clock::time_point deadline) {
    fired_ = false;
    armed_ = true;
    deadline_ = deadline;
    // Most deadlines are extended long before they pass. A wait that is already pending checks the new deadline when it ends, unless it
    // would end too late.
    if (!waiting_ || timer_.expiry() > deadline) wait_until(deadline);
  }
  void arm(std::chrono::milliseconds time) { arm(std::chrono::steady_clock::now() + time); }
  void disarm() { armed_ = false; }
  /// True from expiry until the next arm().
  bool fired() const { return fired_; }

 private:
  void wait_until(std::chrono::steady_clock::time_point time) {
    waiting_ = true;
    const std::uint64_t mine = ++*generation_;
    timer_.expires_at(time);
    // A queued wait can't be cancelled, so it checks whether it is still current.
    timer_.async_wait([this, mine, generation = generation_](SystemError) {
      if (*generation != mine) return;
      waiting_ = false;
      if (!armed_) return;
      if (std::chrono::steady_clock::now() < deadline_) return wait_until(deadline_);
      armed_ = false;
      fired_ = true;
      expired_();
    });
  }

  asio::steady_timer timer_;
  std::function<void()> expired_;
  std::chrono::steady_clock::time_point deadline_;
  bool armed_ = false;
  bool waiting_ = false;
  bool fired_ = false;
  // Shared with queued waits, which may outlive this object.
  std::shared_ptr<std::uint64_t> generation_ = std::make_shared<std::uint64_t>(0);
};

/// A Beast body that collects the bytes received, so that they can be taken piece by piece. Does not reserve memory based on
/// content-length. If memory runs out, parsing ends with asio::error::no_memory.
struct CollectedBody {
  using value_type = std::string;

  class reader {  // NOLINT(readability-identifier-naming): the name that Beast looks for
   public:
    template <bool isRequest, class Fields>
    reader(beast::http::header<isRequest, Fields>&, value_type& body) : body_(body) {}
    void init(const boost::optional<std::uint64_t>&, SystemError& error) { error = {}; }
    template <class Buffers>
    std::size_t put(const Buffers& buffers, SystemError& error) {
      error = {};
      std::size_t size = 0;
      try {
        for (auto it = asio::buffer_sequence_begin(buffers); it != asio::buffer_sequence_end(buffers); ++it) {
          const asio::const_buffer piece(*it);
          body_.append(static_cast<const char*>(piece.data()), piece.size());
          size += piece.size();
        }
      } catch (const std::bad_alloc&) {
        error = asio::error::no_memory;
      }
      return size;
    }
    void finish(SystemError& error) { error = {}; }

   private:
    value_type& body_;
  };
};

using RequestParser = beast::http::parser<true, CollectedBody>;
using ResponseParser = beast::http::parser<false, CollectedBody>;

inline std::string_view to_view(beast::string_view text) { return {text.data(), text.size()}; }

}  // namespace footnote::http
