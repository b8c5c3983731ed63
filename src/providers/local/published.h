#pragma once

#include <memory>
#include <utility>

#include "base/mutex.h"

namespace footnote {

/// The newest immutable state of something. The lock is held for one pointer copy, so readers never wait for a writer's work. Shared: a
/// reader keeps the state it started with, however many follow. Thread-safe. (std::atomic<std::shared_ptr> in g++ 12 is a spin lock inside
/// and trips the thread sanitizer.)
template <class T>
class Published {
 public:
  explicit Published(std::shared_ptr<const T> first) : current_(std::move(first)) {}

  std::shared_ptr<const T> get() const {
    MutexLock lock(mutex_);
    return current_;
  }

  void set(std::shared_ptr<const T> next) {
    {
      MutexLock lock(mutex_);
      current_.swap(next);
    }
    // If this was the last holder of the old state, it is freed here, after the lock is released.
  }

 private:
  mutable Mutex mutex_;
  std::shared_ptr<const T> current_ FOOTNOTE_TSA(guarded_by(mutex_));
};

}  // namespace footnote
