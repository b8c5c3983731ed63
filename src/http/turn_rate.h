#pragma once

#include <chrono>
#include <cstddef>
#include <optional>

namespace footnote::http {

/// Tells how long a waiting task has to wait, from how often others got their turn while tasks waited. Tasks that hold
/// a worker for long leave fewer turns, and that is all they do here: how long they last enters nowhere. Recent time
/// counts most: what lies `window` back counts e times less. Not thread-safe.
class TurnRate {
 public:
  using Time = std::chrono::steady_clock::time_point;
  using Seconds = std::chrono::duration<double>;

  explicit TurnRate(Seconds window) : window_(window) {}

  /// Tasks begin to wait. What was seen when others did is forgotten: the load has changed since.
  void start(Time now);
  /// A task got its turn while tasks waited.
  void count(Time now);
  /// Until the task in this place of the queue gets its turn; 1 is the next. nullopt: tasks have not waited for long
  /// enough to tell (a quarter of the window).
  std::optional<Seconds> wait_at(std::size_t place, Time now) const;

 private:
  /// How much of the past is left of its weight.
  double fading(Time now) const;

  // Constant after construction.
  const Seconds window_;

  Time seen_until_{};
  double turns_ = 0;    // weighted
  Seconds watched_{0};  // weighted; never reaches window_
};

}  // namespace footnote::http
