#include "base/helper_threads.h"

#include <algorithm>
#include <chrono>

#include "base/assert.h"

namespace footnote {
namespace {

// Spin this long before sleeping. Half of a question's work takes ten to a few hundred microseconds, the next piece follows at once, and
// waking a thread takes about as long.
constexpr std::chrono::microseconds kSpinForEnd{100};
constexpr std::chrono::microseconds kSpinForNext{50};

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

/// Spins until `is_ready` or the time is up. True when it became ready in time.
template <class IsReady>
bool spin(std::chrono::microseconds time, const IsReady& is_ready) {
  constexpr int kSpinsPerClockRead = 16;
  const auto until = std::chrono::steady_clock::now() + time;
  do {
    for (int i = 0; i < kSpinsPerClockRead; ++i) {
      if (is_ready()) return true;
      pause();
    }
  } while (std::chrono::steady_clock::now() < until);
  return false;
}

}  // namespace

thread_local HelperThreads::Serving HelperThreads::serving;

HelperThreads::HelperThreads(std::size_t threads) {
  FOOTNOTE_ASSERT(threads <= kThreadsMax);
  {
    const MutexLock lock(mutex_);
    idle_ = threads;
  }
  for (std::size_t i = 0; i < threads; ++i) threads_.emplace_back([this] { serve(); });
}

HelperThreads::~HelperThreads() {
  {
    const MutexLock lock(mutex_);
    FOOTNOTE_ASSERT(callers_ == 0);
    stopping_ = true;
  }
  arrived_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void HelperThreads::serve() {
  for (bool worked = false;; worked = true) {
    if (worked) spin(kSpinForNext, [this] { return queued_.load(std::memory_order_relaxed) > 0; });
    Job* job = nullptr;
    {
      MutexLock lock(mutex_);
      while (waiting_.empty() && !stopping_) arrived_.wait(lock);
      if (waiting_.empty()) return;
      job = waiting_.back();
      waiting_.pop_back();
      queued_.store(waiting_.size(), std::memory_order_relaxed);
    }
    serving = {this, job};
    try {
      (*job->work)();
    } catch (...) {
      job->thrown = std::current_exception();
    }
    serving = {};
    const MutexLock lock(mutex_);
    ++idle_;
    // From here on the caller may destroy the job.
    job->done.store(true, std::memory_order_release);
    finished_.notify_all();
  }
}

bool HelperThreads::enqueue(Job& job) {
  {
    const MutexLock lock(mutex_);
    ++callers_;
    if (callers_ > idle_) return false;
    --idle_;
    waiting_.push_back(&job);
    queued_.store(waiting_.size(), std::memory_order_relaxed);
  }
  arrived_.notify_one();
  return true;
}

bool HelperThreads::take_back(const Job& job) {
  const MutexLock lock(mutex_);
  const auto found = std::ranges::find(waiting_, &job);
  if (found == waiting_.end()) return false;
  waiting_.erase(found);
  queued_.store(waiting_.size(), std::memory_order_relaxed);
  ++idle_;
  return true;
}

void HelperThreads::run_offered(Job& job) {
  Job* const inner = job.offered.exchange(nullptr);
  if (inner == nullptr) return;
  try {
    (*inner->work)();
  } catch (...) {
    inner->thrown = std::current_exception();
  }
  const MutexLock lock(mutex_);
  inner->done.store(true, std::memory_order_release);
  finished_.notify_all();
}

void HelperThreads::wait_for(Job& job) {
  const auto done_or_offering = [&] { return job.done.load(std::memory_order_acquire) || job.offered.load() != nullptr; };
  for (;;) {
    if (!spin(kSpinForEnd, done_or_offering)) {
      MutexLock lock(mutex_);
      // No deadline here: the job uses this thread's stack. The work itself checks the call's deadline.
      while (!done_or_offering()) finished_.wait(lock);
    }
    if (job.done.load(std::memory_order_acquire)) return;
    run_offered(job);
  }
}

void HelperThreads::run_both_within(Job& outer, const std::function<void()>& here, const std::function<void()>& there) {
  Job job{.work = &there};
  Job* expected = nullptr;
  // A job offers one piece of work at a time: if one is offered already, both halves run on this thread.
  const bool queued = outer.offered.compare_exchange_strong(expected, &job);
  if (queued) {
    // The caller may be about to sleep. It checks once more under the lock, so notify under the lock.
    const MutexLock lock(mutex_);
    finished_.notify_all();
  }
  std::exception_ptr thrown;
  try {
    here();
  } catch (...) {
    thrown = std::current_exception();
  }
  expected = &job;
  const bool is_left = !queued || outer.offered.compare_exchange_strong(expected, nullptr);
  if (!is_left) wait_for(job);
  if (thrown) std::rethrow_exception(thrown);
  if (is_left) return there();
  if (job.thrown) std::rethrow_exception(job.thrown);
}

void HelperThreads::run_both(const std::function<void()>& here, const std::function<void()>& there) {
  if (serving.helpers == this) return run_both_within(*serving.job, here, there);
  Job job{.work = &there};
  const bool queued = enqueue(job);
  std::exception_ptr thrown;
  try {
    here();
  } catch (...) {
    thrown = std::current_exception();
  }
  const bool is_left = !queued || take_back(job);
  if (!is_left) wait_for(job);
  {
    const MutexLock lock(mutex_);
    --callers_;
  }
  if (thrown) std::rethrow_exception(thrown);
  if (is_left) return there();
  if (job.thrown) std::rethrow_exception(job.thrown);
}

}  // namespace footnote
