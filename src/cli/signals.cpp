#include "cli/signals.h"

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>

#include "base/assert.h"
#include "base/mutex.h"

namespace footnote::cli {

SignalStop::SignalStop() {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);  // exceeding the file size limit is a write error like a full disk, not fatal
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  signals_ = ::signalfd(-1, &set, SFD_CLOEXEC);
  wake_ = ::eventfd(0, EFD_CLOEXEC);
  FOOTNOTE_ASSERT(signals_ >= 0 && wake_ >= 0);
  watcher_ = std::thread([this] { watch(); });
}

SignalStop::~SignalStop() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(wake_, &one, sizeof one);
  watcher_.join();
  ::close(signals_);
  ::close(wake_);
}

void SignalStop::watch() {
  pollfd waits[2] = {{signals_, POLLIN, 0}, {wake_, POLLIN, 0}};
  while (true) {
    if (::poll(waits, 2, -1) < 0) continue;
    if (waits[1].revents != 0) return;
    signalfd_siginfo info{};
    if (::read(signals_, &info, sizeof info) != static_cast<ssize_t>(sizeof info)) continue;
    if (source_.stop_requested()) ::_exit(128 + static_cast<int>(info.ssi_signo));
    source_.request_stop();
  }
}

void wait_for_stop(const std::stop_token& token) {
  Mutex mutex;
  CondVar changed;
  std::stop_callback wake(token, [&] {
    MutexLock lock(mutex);
    changed.notify_all();
  });
  MutexLock lock(mutex);
  while (!token.stop_requested()) changed.wait(lock);
}

}  // namespace footnote::cli
