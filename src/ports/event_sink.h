#pragma once

#include "base/call_context.h"
#include "domain/conversation.h"

namespace footnote {

/// Takes events in order. A sink that fails loses the event, never the work that it tells of. Thread-safe.
class EventSink {
 public:
  virtual ~EventSink() = default;
  virtual Result<void> append(const CallContext& call, const Event& event) = 0;
};

}  // namespace footnote
