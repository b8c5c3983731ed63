#pragma once

#include <string_view>
#include <utility>

#include "base/log.h"

namespace footnote {

/// Logs the exception that is being handled. For use in a catch block; does not throw, even without memory for the log line.
void log_contained_exception(LogModule module, std::string_view work) noexcept;

/// Runs `work` at the top of a thread or job, so that an exception ends this work and not the process. Our own code does not throw; the
/// usual cause is a failed allocation. Returns false after an exception and logs it under `module` with `work`'s name.
template <class Work>
bool contained(LogModule module, std::string_view name, Work&& work) noexcept {
  try {
    std::forward<Work>(work)();
    return true;
  } catch (...) {
    log_contained_exception(module, name);
    return false;
  }
}

}  // namespace footnote
