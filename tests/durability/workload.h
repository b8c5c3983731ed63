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

/// What a store holds, told in texts: "document a.md" -> its text, chunks and vectors; "turn t7" -> its question and
/// outcome; "usage" -> the counts. Two stores hold the same when these are the same.
using Facts = std::map<std::string, std::string>;

/// Everything that `store` holds, read through the ports where they reach.
Result<Facts> read_facts(SqliteStore& store);

/// A change of the store and of the facts, that is acknowledged or not.
struct Step {
  std::string name;
  std::function<Result<void>(SqliteStore&)> run;
  Facts after;  ///< The facts once it is done.
};

/// Makes steps at random: commits that add, replace and delete documents, purges, turns, catalog writes, events. Knows
/// what the store should hold by what it was told came true.
class Workload {
 public:
  Workload(std::uint64_t seed, ManualClock& clock) : random_(seed), clock_(clock) {}

  /// The next step, from the facts as they are.
  Step next();
  /// A step that has something to write, whatever the store holds.
  Step certain_write() { return event(); }
  /// The step's facts are the facts now.
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
