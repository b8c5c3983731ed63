#pragma once

#include <memory>

#include "base/call_context.h"

namespace footnote::contract {

/// A call whose caller has gone. (On the heap: g++ 12 takes a local stop_source for uninitialised when it sanitizes.)
inline CallContext stopped_call() {
  const auto gone = std::make_unique<std::stop_source>();
  gone->request_stop();
  return {.stop = gone->get_token()};
}

}  // namespace footnote::contract
