#include "answer/check_lane.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "base/contained.h"
#include "base/log.h"

namespace footnote::answer {

CheckLane::~CheckLane() {
  std::vector<std::jthread> ending;  // joined without the lock
  {
    MutexLock lock(mutex_);
    for (std::jthread& thread : threads_) thread.request_stop();
    ending.swap(threads_);
  }
  ready_.notify_all();
  ending_.notify_all();
}

/// Starts another thread if all are busy and the limit is not reached.
bool CheckLane::has_thread() {
  const std::size_t idle = threads_.size() - busy_.size();
  if (waiting_.size() < idle || threads_.size() >= kThreads) return true;
  try {
    threads_.emplace_back([this](const std::stop_token& stop) { run(stop); });
  } catch (const std::system_error& error) {
    log(LogLevel::kError, "answer", "can't start a thread for citation checks", {{"reason", error.what()}});
  }
  return !threads_.empty();
}

bool CheckLane::push(const void* owner, Job job) {
  {
    MutexLock lock(mutex_);
    if (waiting_.size() >= kWaitingMax || !has_thread()) return false;
    waiting_.push_back({owner, std::move(job)});
  }
  ready_.notify_one();
  return true;
}

std::size_t CheckLane::withdraw(const void* owner) {
  MutexLock lock(mutex_);
  return std::erase_if(waiting_, [&](const Waiting& each) { return each.owner == owner; });
}

/// The first queued job whose owner has no running job.
std::deque<CheckLane::Waiting>::iterator CheckLane::next() {
  return std::ranges::find_if(waiting_, [this](const Waiting& each) FOOTNOTE_TSA(no_thread_safety_analysis) {
    return std::ranges::find(busy_, each.owner) == busy_.end();
  });
}

void CheckLane::run(const std::stop_token& stop) {
  MutexLock lock(mutex_);
  while (!stop.stop_requested()) {
    const auto found = next();
    if (found == waiting_.end()) {
      ready_.wait(lock);
      continue;
    }
    const void* const owner = found->owner;
    Job job = std::move(found->job);
    waiting_.erase(found);
    busy_.push_back(owner);
    lock.native().unlock();
    const auto began = std::chrono::steady_clock::now();
    contained("answer", "checking citations", job);
    job = nullptr;
    lock.native().lock();
    std::erase(busy_, owner);
    if (waiting_.size() >= kBehind) rest(lock, stop, std::chrono::steady_clock::now() - began);
  }
}

void CheckLane::rest(MutexLock& lock, const std::stop_token& stop, std::chrono::steady_clock::duration took) {
  const auto until = std::chrono::steady_clock::now() + std::min<std::chrono::steady_clock::duration>(kRestFactor * took, kRestMax);
  while (!stop.stop_requested() && std::chrono::steady_clock::now() < until) (void)ending_.wait_until(lock, until);
}

}  // namespace footnote::answer
