#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

// Thread-safety annotations: clang rejects an unlocked access to a guarded member; g++ ignores them.
#if defined(__clang__)
#define FOOTNOTE_TSA(x) __attribute__((x))
#else
#define FOOTNOTE_TSA(x)
#endif

namespace footnote {

/// std::mutex that clang's thread-safety analysis understands.
class FOOTNOTE_TSA(capability("mutex")) Mutex {
 public:
  void lock() FOOTNOTE_TSA(acquire_capability()) { mutex_.lock(); }
  void unlock() FOOTNOTE_TSA(release_capability()) { mutex_.unlock(); }
  std::mutex& native() { return mutex_; }

 private:
  std::mutex mutex_;
};

/// Holds a Mutex for the length of a scope.
class FOOTNOTE_TSA(scoped_lockable) MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) FOOTNOTE_TSA(acquire_capability(mutex)) : lock_(mutex.native()) {}
  ~MutexLock() FOOTNOTE_TSA(release_capability()) = default;
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;
  std::unique_lock<std::mutex>& native() { return lock_; }

 private:
  std::unique_lock<std::mutex> lock_;
};

/// Waits under a MutexLock. Wake-ups may be spurious: callers loop over their condition.
class CondVar {
 public:
  void wait(MutexLock& lock) { condition_.wait(lock.native()); }
  /// False when the deadline passed.
  bool wait_until(MutexLock& lock, std::chrono::steady_clock::time_point deadline) {
    // Some standard libraries overflow on time_point::max(), so wait at most a day; callers loop anyway.
    const auto cap = std::chrono::steady_clock::now() + std::chrono::hours{24};
    return condition_.wait_until(lock.native(), std::min(deadline, cap)) == std::cv_status::no_timeout;
  }
  void notify_one() { condition_.notify_one(); }
  void notify_all() { condition_.notify_all(); }

 private:
  std::condition_variable condition_;
};

}  // namespace footnote
