#pragma once

#include <cstddef>
#include <optional>

#include "base/mutex.h"
#include "base/result.h"

namespace footnote::fakes {

/// Makes calls fail on purpose and counts them. Thread-safe.
class Faults {
 public:
  /// `good_calls` more calls go well; every later one fails with `code` until heal().
  void fail_after(std::size_t good_calls, ErrorCode code);
  void heal();

  /// One call: counts it and says how it ends.
  Result<void> next();
  /// Calls so far, failed ones too.
  std::size_t calls() const;

 private:
  mutable Mutex mutex_;
  std::size_t calls_ FOOTNOTE_TSA(guarded_by(mutex_)) = 0;
  std::size_t good_calls_ FOOTNOTE_TSA(guarded_by(mutex_)) = 0;
  std::optional<ErrorCode> code_ FOOTNOTE_TSA(guarded_by(mutex_));
};

}  // namespace footnote::fakes
