#pragma once

#include <atomic>
#include <cstddef>
#include <exception>
#include <functional>
#include <thread>
#include <vector>

#include "base/mutex.h"

namespace footnote {

/// Threads that do half of somebody's work where they have nothing else to do, so that one question on an idle machine is answered
/// sooner. Nothing ever waits for a free thread: what none of them has begun by then is done by its owner. Thread-safe.
class Beside {
 public:
  static constexpr std::size_t kThreadsMax = 64;

  /// REQUIRES: threads <= kThreadsMax. With none, everything is done by its owner.
  explicit Beside(std::size_t threads);
  /// REQUIRES: no call is under way.
  ~Beside();
  Beside(const Beside&) = delete;
  Beside& operator=(const Beside&) = delete;

  /// Calls `here` on this thread and `there` on another one at the same time, where one is idle and every other owner could have one
  /// too; else both on this thread, one after the other. Returns when both are done; what one of them throws is thrown on.
  void both(const std::function<void()>& here, const std::function<void()>& there);

  std::size_t threads() const { return threads_.size(); }

 private:
  struct Job {
    const std::function<void()>* work = nullptr;
    std::exception_ptr thrown = {};
    std::atomic<bool> done = false;
  };

  void serve();
  bool give(Job& job);
  /// True when nobody had begun it.
  bool take_back(const Job& job);
  void finish(Job& job);

  Mutex mutex_;
  CondVar arrived_;
  CondVar finished_;
  std::vector<Job*> waiting_ FOOTNOTE_TSA(guarded_by(mutex_));
  std::atomic<std::size_t> given_ = 0;                       // As many as wait, for those who look without the lock.
  std::size_t idle_ FOOTNOTE_TSA(guarded_by(mutex_)) = 0;    // Threads without a job, those on their way to a waiting one left out.
  std::size_t owners_ FOOTNOTE_TSA(guarded_by(mutex_)) = 0;  // In both().
  bool stopping_ FOOTNOTE_TSA(guarded_by(mutex_)) = false;
  std::vector<std::thread> threads_;  // Last: they end before anything they use.
};

/// One after the other where there is no `beside`.
inline void both(Beside* beside, const std::function<void()>& here, const std::function<void()>& there) {
  if (beside != nullptr) return beside->both(here, there);
  here();
  there();
}

}  // namespace footnote
