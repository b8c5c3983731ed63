#pragma once

#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>

#include "base/clock.h"
#include "providers/sqlite/sqlite_catalog_store.h"
#include "providers/sqlite/sqlite_chunk_store.h"
#include "providers/sqlite/sqlite_conversation_store.h"
#include "providers/sqlite/sqlite_event_sink.h"
#include "providers/sqlite/sqlite_store.h"

namespace footnote::durability {

/// The contents of a store as texts: "document a.md" -> its text, chunks and vectors; "turn t7" -> its question and outcome; "usage" -> the
/// counts. Two stores are equal if these are equal.
using Facts = std::map<std::string, std::string>;

/// Everything that `store` contains, read through the ports where possible.
Result<Facts> read_facts(SqliteStore& store);

/// A change of the store, and of the expected facts.
struct Step {
  std::string name;
  std::function<Result<void>(SqliteStore&)> run;
  Facts after;  ///< The facts after the step.
};

/// Generates random steps: commits that add, replace and delete documents, purges, turns, catalog writes, events. Tracks the expected
/// contents of the store from the steps that were acknowledged.
class Workload {
 public:
  Workload(std::uint64_t seed, ManualClock& clock) : random_(seed), clock_(clock) {}

  /// The next step, based on the current facts.
  Step next();
  /// A step that always writes something.
  Step certain_write() { return event(); }
  /// Replaces the current facts.
  void settle(Facts facts) { facts_ = std::move(facts); }
  const Facts& facts() const { return facts_; }

 private:
  Step commit();
  Step purge();
  Step turn();
  Step corpus(const std::string& name);
  Step source();
  Step event();
  std::string text(std::size_t bytes_max);
  std::size_t below(std::size_t n) { return random_() % n; }

  std::mt19937_64 random_;
  ManualClock& clock_;
  Facts facts_;
  int serial_ = 0;
};

}  // namespace footnote::durability
