#pragma once

#include "base/metrics.h"
#include "ports/event_sink.h"

namespace footnote {

/// Implements ports/event_sink.h (EventSink): counts transient notifications and forwards stored events to another sink, which it borrows.
/// Thread-safe. Metrics: footnote_events_total{event}.
class CountedEvents final : public EventSink {
 public:
  CountedEvents(EventSink& kept, Metrics& metrics);

  Result<void> append(const CallContext& call, const Event& event) override { return kept_.append(call, event); }
  void token_streamed(const TokenStreamed& event) noexcept override;
  void turn_completed(const TurnCompleted& event) noexcept override;

 private:
  EventSink& kept_;
  Counter& tokens_;
  Counter& turns_;
};

}  // namespace footnote
