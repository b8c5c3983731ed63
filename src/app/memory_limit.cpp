#include "app/memory_limit.h"

#include <pthread.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace footnote::app {

namespace {

/// A stack counts with its whole size (8 MiB by default), although a thread uses only a few pages. Recursion is bounded everywhere by the
/// depth limits of documents and JSON.
constexpr std::size_t kThreadStackBytes = 2u << 20;

void use_small_stacks() {
  pthread_attr_t attributes{};
  if (::pthread_attr_init(&attributes) != 0) return;
  if (::pthread_attr_setstacksize(&attributes, kThreadStackBytes) == 0) (void)::pthread_setattr_default_np(&attributes);
  (void)::pthread_attr_destroy(&attributes);
}

}  // namespace

Result<void> limit_memory(const Settings& settings) {
  const auto& given = settings.value(Setting::kServerMemoryMax);
  const auto bytes = static_cast<rlim_t>(settings.integer(Setting::kServerMemoryMax)) << 20;
  if (bytes == 0) return {};
  use_small_stacks();
  // RLIMIT_DATA counts the heap, anonymous memory and thread stacks. RLIMIT_AS would also count mapped model and index files, and address
  // space that is reserved but never used.
  rlimit limit{};
  if (::getrlimit(RLIMIT_DATA, &limit) == 0) {
    limit.rlim_cur = std::min<rlim_t>(bytes, limit.rlim_max);
    if (::setrlimit(RLIMIT_DATA, &limit) == 0) return {};
  }
  return fail_field(ErrorCode::kFailedPrecondition, "server.memory_max_mib",
                    "server.memory_max_mib: the system refuses a limit of {} MiB: {} (from {})", bytes >> 20, std::strerror(errno),
                    given.place);
}

}  // namespace footnote::app
