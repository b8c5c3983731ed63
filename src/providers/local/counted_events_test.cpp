#include "providers/local/counted_events.h"

#include <gmock/gmock.h>

#include "contracts/event_sink_contract.h"
#include "fakes/memory_store.h"

namespace footnote::contract {
namespace {

class CountedEventsHarness final : public EventSinkHarness {
 public:
  EventSink& sink() override { return events_; }
  CatalogStore& catalog() override { return store_; }
  std::vector<Event> events(WorkspaceId workspace, CorpusId corpus) override {
    std::vector<Event> out = store_.all_events();
    std::erase_if(out, [&](const Event& event) { return event.workspace != workspace || event.corpus != corpus; });
    return out;
  }

 private:
  ManualClock clock_{UtcTime{}};
  fakes::MemoryStore store_{clock_};
  Metrics metrics_;
  CountedEvents events_{store_, metrics_};
};

INSTANTIATE_TEST_SUITE_P(Local, EventSinkContract,
                         ::testing::Values(EventSinkCase{"counted", [] { return std::make_unique<CountedEventsHarness>(); }}),
                         event_sink_case_name);

TEST(CountedEvents, WhatPassesIsCountedAndHeardAndNotKept) {
  ManualClock clock{UtcTime{}};
  fakes::MemoryStore store{clock};
  Metrics metrics;
  CountedEvents events{store, metrics};
  const Turn turn{.id = {"turn_1"}};
  const std::size_t writes = store.writes();
  events.token_streamed({turn, "a"});
  events.token_streamed({turn, "b"});
  events.turn_completed({turn});
  EXPECT_THAT(store.passed(), ::testing::ElementsAre("token a", "token b", "completed, but not stored"));
  EXPECT_EQ(store.writes(), writes);
  EXPECT_TRUE(store.all_events().empty());
  EXPECT_EQ(metrics.counter("footnote_events_total", "", {{"event", "token_streamed"}}).value(), 2U);
  EXPECT_EQ(metrics.counter("footnote_events_total", "", {{"event", "turn_completed"}}).value(), 1U);
}

}  // namespace
}  // namespace footnote::contract
