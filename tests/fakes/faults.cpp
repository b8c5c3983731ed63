#include "fakes/faults.h"

namespace footnote::fakes {

void Faults::fail_after(std::size_t good_calls, ErrorCode code) {
  MutexLock lock(mutex_);
  good_calls_ = good_calls;
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
  if (good_calls_ == 0) return fail(*code_, "a fault put in by the test");
  --good_calls_;
  return {};
}

std::size_t Faults::calls() const {
  MutexLock lock(mutex_);
  return calls_;
}

}  // namespace footnote::fakes
