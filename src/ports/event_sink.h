#pragma once

#include <string_view>

#include "base/call_context.h"
#include "domain/conversation.h"

namespace footnote {

/// A piece of an answer went to whoever asked. Good for the time of the call.
struct TokenStreamed {
  const Turn& turn;  ///< Its outcome is not known yet.
  std::string_view text;
};

/// A turn ended, whole or broken off, and is in the store with its event kTurnCompleted. Good for the time of the call.
struct TurnCompleted {
  const Turn& turn;
};

/// Takes events in order. A sink that fails loses the event, never the work that it tells of. Thread-safe.
class EventSink {
 public:
  virtual ~EventSink() = default;
  /// Keeps the event: durable when it returns.
  virtual Result<void> append(const CallContext& call, const Event& event) = 0;

  // What passes, and is not kept: told on the turn's own thread, tokens between two writes to the client. Whoever hears it neither writes
  // to a store, nor waits, nor calls out. That a turn ended is kept by ConversationStore::finish_turn, in the turn's own step.
  virtual void token_streamed(const TokenStreamed&) noexcept {}
  virtual void turn_completed(const TurnCompleted&) noexcept {}
};

}  // namespace footnote
