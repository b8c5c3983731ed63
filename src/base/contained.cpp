#include "base/contained.h"

#include <exception>

namespace footnote {

namespace {

/// REQUIRES: an exception is being handled.
void log_current(LogModule module, std::string_view work) {
  try {
    throw;
  } catch (const std::exception& error) {
    log(LogLevel::kError, module, "work ended by an exception", {{"work", work}, {"reason", error.what()}});
  } catch (...) {
    log(LogLevel::kError, module, "work ended by an exception", {{"work", work}, {"reason", "not a std::exception"}});
  }
}

}  // namespace

void log_contained_exception(LogModule module, std::string_view work) noexcept {
  try {
    log_current(module, work);
  } catch (...) {  // No memory for the log line either; nothing more can be done.
    return;
  }
}

}  // namespace footnote
