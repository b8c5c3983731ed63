#pragma once

#include "answer/turn_metrics.h"
#include "answer/turn_report.h"
#include "base/call_context.h"
#include "ports/conversation_store.h"
#include "ports/event_sink.h"

namespace footnote::answer {

/// Bound on the closest passages that a refusal lists.
inline constexpr std::size_t kNearestMax = 3;

/// Where the end of a turn is recorded. Borrowed.
struct TurnRecordPorts {
  ConversationStore& conversations;
  const TurnMetrics* metrics = nullptr;  ///< Null: no metrics.
  EventSink* events = nullptr;           ///< Notified of stored turns.
};

/// Logs and counts a turn that ended, complete or partial. Does not store it.
void note_turn_end(const TurnRecordPorts& ports, const CallContext& call, const TurnReport& report);
/// The same for a turn that failed before any text, which is never stored.
void note_turn_failed(const TurnRecordPorts& ports, const CallContext& call, const TurnReport& report, const TraceError& error);

/// Stores a turn with its trace, under its own deadline, so that it is stored even if the caller has disconnected. A failure is logged and
/// counted, not returned: the answer was already given.
void store_turn(const TurnRecordPorts& ports, const CallContext& call, const TurnReport& report);

}  // namespace footnote::answer
