#pragma once

#include <chrono>
#include <cstddef>
#include <optional>

namespace footnote::http {

/// Estimates how long a queued task has to wait, from the rate at which tasks were dequeued while others waited. Task durations are not
/// measured: long tasks show up as a lower rate. Exponentially weighted: what happened `window` ago counts 1/e. Not thread-safe.
class TurnRate {
 public:
  using Time = std::chrono::steady_clock::time_point;
  using Seconds = std::chrono::duration<double>;

  explicit TurnRate(Seconds window) : window_(window) {}

  /// A queue begins to form. Forgets earlier observations, because the load has changed since then.
  void start(Time now);
  /// A task was dequeued while others waited.
  void count(Time now);
  /// Estimated wait of the task at this place in the queue; place 1 is the next task. nullopt if the queue is younger than a quarter of the
  /// window.
  std::optional<Seconds> wait_at(std::size_t place, Time now) const;

 private:
  /// How much the observations so far still count.
  double fading(Time now) const;

  // Constant after construction.
  const Seconds window_;

  Time seen_until_{};
  double turns_ = 0;    // weighted count
  Seconds watched_{0};  // weighted observation time; never reaches window_
};

}  // namespace footnote::http
