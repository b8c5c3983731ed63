#pragma once

#include "answer/turn_metrics.h"
#include "answer/turn_report.h"
#include "base/call_context.h"
#include "ports/conversation_store.h"
#include "ports/event_sink.h"

namespace footnote::answer {

/// Passages that a refusal names as the nearest.
inline constexpr std::size_t kNearestMax = 3;

/// Where the end of a turn is recorded. Borrowed.
struct TurnRecordPorts {
  ConversationStore& conversations;
  const TurnMetrics* metrics = nullptr;  ///< Null: nothing is counted.
  EventSink* events = nullptr;           ///< Hears of a stored turn.
};

/// Logs and counts a turn that ended, complete or partial. Stores nothing.
void note_turn_end(const TurnRecordPorts& ports, const CallContext& call, const TurnReport& report);
/// The same for a turn that failed before any text: there is nothing to store.
void note_turn_failed(const TurnRecordPorts& ports, const CallContext& call, const TurnReport& report, const TraceError& error);

/// Stores a turn with its trace, under a deadline of its own: the caller may be gone, and the turn is stored all the same. A failure
/// is logged and counted, never returned: the answer was given.
void store_turn(const TurnRecordPorts& ports, const CallContext& call, const TurnReport& report);

}  // namespace footnote::answer
