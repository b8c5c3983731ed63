#include "providers/local/counted_events.h"

namespace footnote {

namespace {

Counter& counter_of(Metrics& metrics, std::string_view event) {
  return metrics.counter("footnote_events_total", "Turn events sent to the event sink", {{"event", std::string(event)}});
}

}  // namespace

CountedEvents::CountedEvents(EventSink& kept, Metrics& metrics)
    : kept_(kept), tokens_(counter_of(metrics, "token_streamed")), turns_(counter_of(metrics, "turn_completed")) {}

void CountedEvents::token_streamed(const TokenStreamed& event) noexcept {
  tokens_.add();
  kept_.token_streamed(event);
}

void CountedEvents::turn_completed(const TurnCompleted& event) noexcept {
  turns_.add();
  kept_.turn_completed(event);
}

}  // namespace footnote
