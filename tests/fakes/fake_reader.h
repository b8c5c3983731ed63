#pragma once

#include <optional>

#include "base/mutex.h"
#include "fakes/faults.h"
#include "ports/reader.h"

namespace footnote::fakes {

/// Finds the sentences that share most content words with the question: those with at least kShareMin of them, best first, at most
/// kSpansMax. A test may set a fixed reading instead. Thread-safe.
class FakeReader final : public Reader {
 public:
  Result<Reading> read(const CallContext& call, const ReaderQuestion& question, std::span<const ReaderPassage> passages) override;

  /// Every later call returns this reading.
  void find(Reading reading);
  Faults& faults() { return faults_; }

  static constexpr double kShareMin = 0.5;
  static constexpr std::size_t kSpansMax = 3;

 private:
  Faults faults_;
  Mutex mutex_;
  std::optional<Reading> scripted_ FOOTNOTE_TSA(guarded_by(mutex_));
};

}  // namespace footnote::fakes
