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
  /// Called by a `there` on its thread, it shares its work with the owner of that, as soon as the owner has nothing left to do but wait.
  void both(const std::function<void()>& here, const std::function<void()>& there);

  std::size_t threads() const { return threads_.size(); }

 private:
  struct Job {
    const std::function<void()>* work = nullptr;
    std::exception_ptr thrown = {};
    std::atomic<bool> done = false;
    std::atomic<Job*> offered = nullptr;  ///< What the one who does it would have done by its owner.
  };
  /// What a thread of ours is at.
  struct Serving {
    const Beside* beside = nullptr;
    Job* job = nullptr;
  };

  void serve();
  bool give(Job& job);
  /// True when nobody had begun it.
  bool take_back(const Job& job);
  /// Waits for the end of a job that somebody began, and does what that one offers meanwhile.
  void finish(Job& job);
  /// both(), within a job.
  void both_within(Job& outer, const std::function<void()>& here, const std::function<void()>& there);
  void do_offered(Job& job);

  static thread_local Serving serving_;

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

/// Calls `work` for each of so many parts, two at a time where there is a `beside`, and returns when all are done. Whoever comes late takes
/// fewer: no half waits for the other.
template <class Work>
void share(Beside* beside, std::size_t parts, const Work& work) {
  std::atomic<std::size_t> next = 0;
  const auto take = [&] {
    for (std::size_t part = next++; part < parts; part = next++) work(part);
  };
  both(beside, take, take);
}

}  // namespace footnote
