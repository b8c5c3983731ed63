#include "upkeep/periodic.h"

#include "base/contained.h"
#include "base/mutex.h"

namespace footnote::upkeep {

void run_periodically(std::string_view name, std::chrono::seconds every, const std::stop_token& stop,
                      const std::function<void(const CallContext&)>& work) {
  Mutex mutex;
  CondVar changed;
  const std::stop_callback wake(stop, [&] {
    MutexLock lock(mutex);
    changed.notify_all();
  });
  CallContext call;
  call.stop = stop;
  while (!stop.stop_requested()) {
    contained("app", name, [&] { work(call); });
    const auto until = std::chrono::steady_clock::now() + every;
    MutexLock lock(mutex);
    while (!stop.stop_requested() && std::chrono::steady_clock::now() < until) changed.wait_until(lock, until);
  }
}

}  // namespace footnote::upkeep
