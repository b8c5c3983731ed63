#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "engine/ann/scan_scope.h"

namespace footnote::ann {

/// A vector and an approximation of its score.
struct Guess {
  float estimate = 0;
  std::uint32_t scope = 0;
  std::uint32_t vector = 0;
};

/// Keeps the `limit` highest estimates; ties are ordered by label. After a few times `limit` offers, a histogram of the kept estimates
/// raises the floor with every offer, so that the exact selection can wait until the end. offer() is inline because it runs once per
/// vector.
class Guesses {
 public:
  static constexpr float kNoFloor = std::numeric_limits<float>::lowest();

  /// `floor`: an estimate of the score that the best `limit` reach; verify it with reach().
  Guesses(const std::vector<ScanScope>& scopes, std::size_t limit, float floor)
      : scopes_(scopes), limit_(limit), cut_at_((floor > kNoFloor ? kRoom : 2) * limit), floor_(floor) {}

  /// True when at least `limit` kept estimates are >= `estimate`.
  bool reach(float estimate) const;

  /// Estimates below this are not needed.
  float floor() const { return floor_; }
  /// REQUIRES: guesses come in the order of scopes and vectors.
  void offer(const Guess& guess) {
    kept_.push_back(guess);
    if (step_ > 0) count(guess.estimate);
    if (kept_.size() < cut_at_) return;
    cut();
    restart_counts();
  }
  /// Merges another object's guesses, as if all had been offered to this one. REQUIRES: they all come after this one's.
  void join(const Guesses& other);
  /// In the order of the offers.
  std::vector<Guess> take();

 private:
  static constexpr std::size_t kSteps = 512;
  /// Up to kRoom * limit_ guesses are kept before a selection.
  static constexpr std::size_t kRoom = 8;

  void count(float estimate) {
    const float steps = (estimate - low_) * inverse_;
    const std::size_t at = steps < kSteps - 1 ? static_cast<std::size_t>(std::max(0.0F, steps)) : kSteps - 1;
    ++counts_[at];
    if (at >= lowest_) ++counted_;
    while (counted_ - counts_[lowest_] >= limit_) counted_ -= counts_[lowest_++];
    // Half a step below the histogram's bound. That covers the rounding of an estimate, both here and in the kernels that compare it with
    // the floor.
    floor_ = low_ + (static_cast<float>(lowest_) - 0.5F) * step_;
  }
  /// Keeps the best `limit_`, in their order.
  void cut();
  /// REQUIRES: fewer than `limit_` estimates are above `least`, and at least `limit_` are >= `least`.
  void cut_below(float least);
  void restart_counts();
  std::int64_t label_of(const Guess& guess) const;

  const std::vector<ScanScope>& scopes_;
  const std::size_t limit_;
  std::size_t cut_at_;
  float floor_;
  std::vector<Guess> kept_;
  // counts_[i]: kept estimates in [low_ + i * step_, low_ + (i + 1) * step_). counted_: their sum from lowest_ on.
  std::array<std::uint32_t, kSteps> counts_{};
  float low_ = 0;
  float step_ = 0;  // 0: nothing is counted.
  float inverse_ = 0;
  std::size_t lowest_ = 0;
  std::size_t counted_ = 0;
};

}  // namespace footnote::ann
