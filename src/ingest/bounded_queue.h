#pragma once

#include <deque>
#include <optional>
#include <utility>

#include "base/mutex.h"

namespace footnote::ingest {

/// Passes items between threads. Holds at most `items_max` items and `bytes_max` bytes, except that a single larger item is accepted.
/// Thread-safe.
template <class T>
class BoundedQueue {
 public:
  BoundedQueue(std::size_t items_max, std::size_t bytes_max) : items_max_(items_max), bytes_max_(bytes_max) {}

  /// Waits for room. False if the queue is closed: the item is dropped.
  bool push(T item, std::size_t bytes) {
    MutexLock lock(mutex_);
    while (!closed_ && !items_.empty() && (items_.size() >= items_max_ || bytes_ + bytes > bytes_max_)) changed_.wait(lock);
    if (closed_) return false;
    bytes_ += bytes;
    items_.emplace_back(std::move(item), bytes);
    changed_.notify_all();
    return true;
  }

  /// Waits for an item; nullopt if the queue is closed and empty.
  std::optional<T> pop() {
    MutexLock lock(mutex_);
    while (!closed_ && items_.empty()) changed_.wait(lock);
    if (items_.empty()) return std::nullopt;
    std::pair<T, std::size_t> front = std::move(items_.front());
    items_.pop_front();
    bytes_ -= front.second;
    changed_.notify_all();
    return std::move(front.first);
  }

  /// Refuses further pushes; queued items can still be popped.
  void close() {
    MutexLock lock(mutex_);
    closed_ = true;
    changed_.notify_all();
  }

 private:
  const std::size_t items_max_;
  const std::size_t bytes_max_;

  Mutex mutex_;
  CondVar changed_;
  std::deque<std::pair<T, std::size_t>> items_ FOOTNOTE_TSA(guarded_by(mutex_));
  std::size_t bytes_ FOOTNOTE_TSA(guarded_by(mutex_)) = 0;
  bool closed_ FOOTNOTE_TSA(guarded_by(mutex_)) = false;
};

}  // namespace footnote::ingest
