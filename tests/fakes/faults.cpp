#include "fakes/faults.h"

namespace footnote::fakes {

void Faults::fail_after(std::size_t good_calls, ErrorCode code, std::size_t bad_calls) {
  MutexLock lock(mutex_);
  good_calls_ = good_calls;
  bad_calls_ = bad_calls;
  code_ = code;
}

void Faults::heal() {
  MutexLock lock(mutex_);
  code_.reset();
}

Result<void> Faults::next() {
  MutexLock lock(mutex_);
  ++calls_;
  if (!code_) return {};
  if (good_calls_ > 0) {
    --good_calls_;
    return {};
  }
  const ErrorCode code = *code_;
  if (bad_calls_ != kUntilHealed && --bad_calls_ == 0) code_.reset();
  return fail(code, "a fault put in by the test");
}

std::size_t Faults::calls() const {
  MutexLock lock(mutex_);
  return calls_;
}

}  // namespace footnote::fakes
