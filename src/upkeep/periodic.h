#pragma once

#include <chrono>
#include <functional>
#include <stop_token>
#include <string_view>

#include "base/call_context.h"

namespace footnote::upkeep {

/// Calls `work` at once and then once per `every`, until `stop` is requested; then the call is cancelled. For the body of a background
/// thread. A failed allocation ends only one call of `work`; it is logged under `name`.
void run_periodically(std::string_view name, std::chrono::seconds every, const std::stop_token& stop,
                      const std::function<void(const CallContext&)>& work);

}  // namespace footnote::upkeep
