#include "fakes/hang.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>

namespace footnote::fakes {

Error hang_until_stopped(const CallContext& call) {
  std::mutex mutex;
  std::condition_variable_any wake;
  std::unique_lock lock(mutex);
  // If a test forgets to stop the call, it fails after a minute instead of blocking the suite.
  const auto end = std::min(call.deadline, std::chrono::steady_clock::now() + std::chrono::minutes{1});
  wake.wait_until(lock, call.stop, end, [] { return false; });
  const auto ended = call.check();
  return ended ? Error{ErrorCode::kInternal, "hung for a minute: nobody stopped the call", {}} : ended.error();
}

}  // namespace footnote::fakes
