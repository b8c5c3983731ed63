#include "engine/ann/guesses.h"

#include <cmath>
#include <functional>
#include <utility>

namespace footnote::ann {

bool Guesses::reach(float estimate) const {
  return static_cast<std::size_t>(std::ranges::count_if(kept_, [&](const Guess& guess) { return guess.estimate >= estimate; })) >= limit_;
}

void Guesses::join(const Guesses& other) {
  floor_ = std::max(floor_, other.floor_);
  kept_.insert(kept_.end(), other.kept_.begin(), other.kept_.end());
}

std::vector<Guess> Guesses::take() {
  cut();
  return std::move(kept_);
}

void Guesses::cut() {
  std::erase_if(kept_, [this](const Guess& guess) { return guess.estimate < floor_; });
  if (kept_.size() <= limit_) return;
  // Selecting among bare floats is several times as fast as among guesses. Only ties with the last one are resolved by label.
  std::vector<float> estimates(kept_.size());
  std::ranges::transform(kept_, estimates.begin(), &Guess::estimate);
  const auto last = estimates.begin() + static_cast<std::ptrdiff_t>(limit_) - 1;
  std::nth_element(estimates.begin(), last, estimates.end(), std::greater{});
  cut_below(*last);
}

void Guesses::cut_below(float least) {
  std::vector<Guess> equal;
  std::size_t above = 0;
  for (const Guess& guess : kept_) {
    if (guess.estimate > least) ++above;
    if (guess.estimate == least) equal.push_back(guess);
  }
  const auto name = [this](const Guess& guess) { return std::pair(label_of(guess), guess.vector); };
  const auto last = equal.begin() + static_cast<std::ptrdiff_t>(limit_ - above) - 1;
  std::ranges::nth_element(equal, last, {}, name);
  const auto last_name = name(*last);
  std::erase_if(kept_, [&](const Guess& guess) { return guess.estimate < least || (guess.estimate == least && name(guess) > last_name); });
}

void Guesses::restart_counts() {
  const auto [least, most] = std::ranges::minmax(kept_, {}, &Guess::estimate);
  low_ = floor_ = least.estimate;
  // Twice the current range, because later estimates may be higher.
  const float step = 2 * (most.estimate - low_) / kSteps;
  step_ = std::isnormal(step) && std::isnormal(1 / step) ? step : 0;
  inverse_ = 1 / step_;
  cut_at_ = (step_ > 0 ? kRoom : 2) * limit_;
  counts_.fill(0);
  counted_ = lowest_ = 0;
  if (step_ == 0) return;  // All equal, or too large to distinguish.
  for (const Guess& guess : kept_) count(guess.estimate);
}

std::int64_t Guesses::label_of(const Guess& guess) const {
  const Segment& segment = *scopes_[guess.scope].segment;
  return segment.rows.label(segment.row_of(guess.vector));
}

}  // namespace footnote::ann
