#include "answer/store_lane.h"

#include <system_error>
#include <utility>

#include "base/contained.h"
#include "base/log.h"

namespace footnote::answer {

StoreLane::~StoreLane() {
  (void)wait_until_idle(std::chrono::steady_clock::now() + kDrainTimeMax);
  std::jthread ending;  // joined without the lock
  MutexLock lock(mutex_);
  if (!waiting_.empty()) log(LogLevel::kError, "answer", "turns not stored before the end", {{"turns", waiting_.size()}});
  thread_.request_stop();
  changed_.notify_all();
  ending.swap(thread_);
  lock.native().unlock();
}

bool StoreLane::has_thread() {
  if (thread_.joinable()) return true;
  try {
    thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
  } catch (const std::system_error& error) {
    log(LogLevel::kError, "answer", "can't start a thread to store turns", {{"reason", error.what()}});
  }
  return thread_.joinable();
}

bool StoreLane::push(Job job) {
  {
    MutexLock lock(mutex_);
    if (waiting_.size() >= kWaitingMax || !has_thread()) return false;
    waiting_.push_back(std::move(job));
  }
  changed_.notify_all();
  return true;
}

bool StoreLane::wait_until_idle(std::chrono::steady_clock::time_point deadline) {
  MutexLock lock(mutex_);
  while ((running_ || !waiting_.empty()) && std::chrono::steady_clock::now() < deadline) (void)changed_.wait_until(lock, deadline);
  return !running_ && waiting_.empty();
}

void StoreLane::run(const std::stop_token& stop) {
  MutexLock lock(mutex_);
  while (!stop.stop_requested()) {
    if (waiting_.empty()) {
      changed_.wait(lock);
      continue;
    }
    Job job = std::move(waiting_.front());
    waiting_.pop_front();
    running_ = true;
    lock.native().unlock();
    contained("answer", "storing a turn", job);
    job = nullptr;
    lock.native().lock();
    running_ = false;
    changed_.notify_all();
  }
}

}  // namespace footnote::answer
