#pragma once

#include <stop_token>
#include <thread>

namespace footnote::cli {

/// Turns SIGINT and SIGTERM into a stop request while this object lives; a second signal ends the process at once (exit 130 or 143). Create
/// it before any other thread starts: later threads inherit the blocked signals. Also ignores SIGPIPE: a closed pipe is a write error.
class SignalStop {
 public:
  SignalStop();
  ~SignalStop();
  SignalStop(const SignalStop&) = delete;
  SignalStop& operator=(const SignalStop&) = delete;

  std::stop_token token() const { return source_.get_token(); }

 private:
  void watch();

  std::stop_source source_;
  int signals_ = -1;  // signalfd
  int wake_ = -1;     // eventfd: tells the watcher to end
  std::thread watcher_;
};

/// Waits until a stop is requested.
void wait_for_stop(const std::stop_token& token);

}  // namespace footnote::cli
