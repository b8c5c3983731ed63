#pragma once

#include <cstddef>
#include <optional>

#include "base/mutex.h"
#include "base/result.h"

namespace footnote::fakes {

/// Injects failures into calls, and counts the calls. Thread-safe.
class Faults {
 public:
  static constexpr std::size_t kUntilHealed = static_cast<std::size_t>(-1);

  /// The next `good_calls` calls succeed; the `bad_calls` after them fail with `code`, or all of them until heal().
  void fail_after(std::size_t good_calls, ErrorCode code, std::size_t bad_calls = kUntilHealed);
  void heal();

  /// Counts one call and returns its result.
  Result<void> next();
  /// Calls so far, including failed ones.
  std::size_t calls() const;

 private:
  mutable Mutex mutex_;
  std::size_t calls_ FOOTNOTE_TSA(guarded_by(mutex_)) = 0;
  std::size_t good_calls_ FOOTNOTE_TSA(guarded_by(mutex_)) = 0;
  std::size_t bad_calls_ FOOTNOTE_TSA(guarded_by(mutex_)) = 0;
  std::optional<ErrorCode> code_ FOOTNOTE_TSA(guarded_by(mutex_));
};

}  // namespace footnote::fakes
