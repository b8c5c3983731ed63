#pragma once

#include <memory>

#include "base/call_context.h"

namespace footnote::contract {

/// A call whose caller has cancelled. (Allocated on the heap: with sanitizers, g++ 12 reports a local stop_source as uninitialised.)
inline CallContext stopped_call() {
  const auto gone = std::make_unique<std::stop_source>();
  gone->request_stop();
  return {.stop = gone->get_token()};
}

}  // namespace footnote::contract
