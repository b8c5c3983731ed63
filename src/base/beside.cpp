#include "base/beside.h"

#include <algorithm>
#include <chrono>

#include "base/assert.h"

namespace footnote {
namespace {

// Who waits looks so long for itself before it sleeps: halves of a question take some ten microseconds up to a few hundred, follow each
// other as fast, and to be woken takes as long.
constexpr std::chrono::microseconds kLookForEnd{100};
constexpr std::chrono::microseconds kLookForNext{50};

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

/// True when it is there in time.
template <class IsThere>
bool look(std::chrono::microseconds time, const IsThere& is_there) {
  constexpr int kLooksAtOnce = 16;
  const auto until = std::chrono::steady_clock::now() + time;
  do {
    for (int i = 0; i < kLooksAtOnce; ++i) {
      if (is_there()) return true;
      pause();
    }
  } while (std::chrono::steady_clock::now() < until);
  return false;
}

}  // namespace

thread_local Beside::Serving Beside::serving_;

Beside::Beside(std::size_t threads) {
  FOOTNOTE_ASSERT(threads <= kThreadsMax);
  {
    const MutexLock lock(mutex_);
    idle_ = threads;
  }
  for (std::size_t i = 0; i < threads; ++i) threads_.emplace_back([this] { serve(); });
}

Beside::~Beside() {
  {
    const MutexLock lock(mutex_);
    FOOTNOTE_ASSERT(owners_ == 0);
    stopping_ = true;
  }
  arrived_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void Beside::serve() {
  for (bool worked = false;; worked = true) {
    if (worked) look(kLookForNext, [this] { return given_.load(std::memory_order_relaxed) > 0; });
    Job* job = nullptr;
    {
      MutexLock lock(mutex_);
      while (waiting_.empty() && !stopping_) arrived_.wait(lock);
      if (waiting_.empty()) return;
      job = waiting_.back();
      waiting_.pop_back();
      given_.store(waiting_.size(), std::memory_order_relaxed);
    }
    serving_ = {this, job};
    try {
      (*job->work)();
    } catch (...) {
      job->thrown = std::current_exception();
    }
    serving_ = {};
    const MutexLock lock(mutex_);
    ++idle_;
    // Its owner may let go of it from here on.
    job->done.store(true, std::memory_order_release);
    finished_.notify_all();
  }
}

bool Beside::give(Job& job) {
  {
    const MutexLock lock(mutex_);
    ++owners_;
    if (owners_ > idle_) return false;
    --idle_;
    waiting_.push_back(&job);
    given_.store(waiting_.size(), std::memory_order_relaxed);
  }
  arrived_.notify_one();
  return true;
}

bool Beside::take_back(const Job& job) {
  const MutexLock lock(mutex_);
  const auto found = std::ranges::find(waiting_, &job);
  if (found == waiting_.end()) return false;
  waiting_.erase(found);
  given_.store(waiting_.size(), std::memory_order_relaxed);
  ++idle_;
  return true;
}

void Beside::do_offered(Job& job) {
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

void Beside::finish(Job& job) {
  const auto has_news = [&] { return job.done.load(std::memory_order_acquire) || job.offered.load() != nullptr; };
  for (;;) {
    if (!look(kLookForEnd, has_news)) {
      MutexLock lock(mutex_);
      // Without a deadline: what was begun works on what lies on this thread's stack. It has the call's own deadline.
      while (!has_news()) finished_.wait(lock);
    }
    if (job.done.load(std::memory_order_acquire)) return;
    do_offered(job);
  }
}

void Beside::both_within(Job& outer, const std::function<void()>& here, const std::function<void()>& there) {
  Job job{.work = &there};
  Job* expected = nullptr;
  // One at a time: within `here` everything is done on this thread.
  const bool given = outer.offered.compare_exchange_strong(expected, &job);
  if (given) {
    // The owner may be about to sleep: it looks once more when it has the lock.
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
  const bool is_left = !given || outer.offered.compare_exchange_strong(expected, nullptr);
  if (!is_left) finish(job);
  if (thrown) std::rethrow_exception(thrown);
  if (is_left) return there();
  if (job.thrown) std::rethrow_exception(job.thrown);
}

void Beside::both(const std::function<void()>& here, const std::function<void()>& there) {
  if (serving_.beside == this) return both_within(*serving_.job, here, there);
  Job job{.work = &there};
  const bool given = give(job);
  std::exception_ptr thrown;
  try {
    here();
  } catch (...) {
    thrown = std::current_exception();
  }
  const bool is_left = !given || take_back(job);
  if (!is_left) finish(job);
  {
    const MutexLock lock(mutex_);
    --owners_;
  }
  if (thrown) std::rethrow_exception(thrown);
  if (is_left) return there();
  if (job.thrown) std::rethrow_exception(job.thrown);
}

}  // namespace footnote
