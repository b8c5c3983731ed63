#pragma once

#include <chrono>
#include <vector>

#include "retrieve/retrieval.h"

namespace footnote::retrieve {

/// Records the start and duration of each stage.
class StageWatch {
 public:
  explicit StageWatch(std::vector<StageTiming>& timings) : timings_(timings) {}
  void lap(TurnStage stage) {
    const auto now = std::chrono::steady_clock::now();
    timings_.push_back({stage, since_start(last_), since_start(now) - since_start(last_)});
    last_ = now;
  }
  /// Starts a new lap now, so that the time since the last one is not counted.
  void skip() { last_ = std::chrono::steady_clock::now(); }
  /// Times work that runs in parallel to the laps, on any thread; add() records the result.
  template <class Work>
  StageTiming time(TurnStage stage, const Work& work) const {
    const auto begin = std::chrono::steady_clock::now();
    work();
    return {stage, since_start(begin), since_start(std::chrono::steady_clock::now()) - since_start(begin)};
  }
  void add(const StageTiming& timing) { timings_.push_back(timing); }

 private:
  std::chrono::microseconds since_start(std::chrono::steady_clock::time_point time) const {
    return std::chrono::duration_cast<std::chrono::microseconds>(time - start_);
  }

  std::vector<StageTiming>& timings_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point last_ = start_;
};

}  // namespace footnote::retrieve
