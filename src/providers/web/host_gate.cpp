#include "providers/web/host_gate.h"

#include <algorithm>

namespace footnote {

namespace {

using SteadyClock = std::chrono::steady_clock;

}  // namespace

Result<HostGate::Pass> HostGate::enter(const CallContext& call, const std::string& host, std::chrono::milliseconds delay_min) {
  const auto delay = std::max(options_.delay, delay_min);
  // A caller that goes away wakes every waiter: they look at their own call.
  const std::stop_callback wake(call.stop, [this] {
    const MutexLock lock(mutex_);
    changed_.notify_all();
  });
  MutexLock lock(mutex_);
  forget_idle(SteadyClock::now());
  while (true) {
    FOOTNOTE_CHECK(call.check());
    Host& here = hosts_[host];
    const auto now = SteadyClock::now();
    const bool has_room = here.open < options_.per_host_max && open_ < options_.open_max;
    if (has_room && here.next <= now) {
      here.next = now + delay;
      ++here.open;
      ++open_;
      return Pass(*this, host);
    }
    if (here.next > call.deadline) return fail(ErrorCode::kDeadlineExceeded, "the host's next turn is after the deadline");
    changed_.wait_until(lock, has_room ? std::min(here.next, call.deadline) : call.deadline);
  }
}

void HostGate::leave(const std::string& host) {
  const MutexLock lock(mutex_);
  --hosts_[host].open;
  --open_;
  changed_.notify_all();
}

void HostGate::forget_idle(SteadyClock::time_point now) {
  if (hosts_.size() < kHostsMax) return;
  std::erase_if(hosts_, [&](const auto& entry) { return entry.second.open == 0 && entry.second.next <= now; });
}

std::size_t HostGate::host_count() const {
  const MutexLock lock(mutex_);
  return hosts_.size();
}

}  // namespace footnote
