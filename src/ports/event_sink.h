#pragma once

#include <string_view>

#include "base/call_context.h"
#include "domain/conversation.h"

namespace footnote {

/// A piece of an answer was sent to the client. Valid during the call.
struct TokenStreamed {
  const Turn& turn;  ///< Its outcome is not known yet.
  std::string_view text;
};

/// A turn ended, complete or interrupted, and is stored with its kTurnCompleted event. Valid during the call.
struct TurnCompleted {
  const Turn& turn;
};

/// Receives events in order. If a sink fails, the event is lost, never the work it reports. Thread-safe.
class EventSink {
 public:
  virtual ~EventSink() = default;
  /// Stores the event: durable when it returns.
  virtual Result<void> append(const CallContext& call, const Event& event) = 0;

  // Transient notifications, sent on the turn's own thread, tokens between two writes to the client. Implementations must not write to a
  // store, block, or make external calls. The end of a turn is stored by ConversationStore::finish_turn, in the turn's own transaction.
  virtual void token_streamed(const TokenStreamed&) noexcept {}
  virtual void turn_completed(const TurnCompleted&) noexcept {}
};

}  // namespace footnote
