#pragma once

#include <stop_token>
#include <thread>

namespace footnote::cli {

/// Turns SIGINT and SIGTERM into a stop request, for as long as it lives; a second one ends the process at once
/// (exit 130 or 143). Make it before any other thread starts: threads started later inherit the blocked signals.
/// SIGPIPE is ignored from then on: a reader that goes away is an error of the write.
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
  int wake_ = -1;     // eventfd: the watcher is to end
  std::thread watcher_;
};

/// Waits until a stop is requested.
void wait_for_stop(const std::stop_token& token);

}  // namespace footnote::cli
