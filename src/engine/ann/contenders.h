#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

namespace footnote::ann {

/// A row that may be in the top-k, and an upper bound of its score.
struct Candidate {
  float upper = 0;
  std::uint32_t scope = 0;
  std::uint32_t row = 0;
};

/// Keeps the rows that may be in the top `limit`, given a lower and an upper bound of each row's score. Its methods run once per row, so
/// they are inline.
class Contenders {
 public:
  explicit Contenders(std::size_t limit) : limit_(limit) {}

  /// At least `limit` rows reach this score.
  float floor() const { return floor_; }
  bool can_enter(float upper) const { return !(upper < floor_); }
  void offer(float lower, const Candidate& candidate) {
    raise_floor(lower);
    kept_.push_back(candidate);
    if (kept_.size() >= prune_at_) prune();
  }
  /// Merges another object's rows, as if all had been offered to this one.
  void join(const Contenders& other) {
    for (const float lower : other.lowers_) raise_floor(lower);
    kept_.insert(kept_.end(), other.kept_.begin(), other.kept_.end());
  }
  /// Highest upper bound first.
  std::vector<Candidate> take() {
    prune();
    std::sort(kept_.begin(), kept_.end(), [](const Candidate& a, const Candidate& b) { return a.upper > b.upper; });
    return std::move(kept_);
  }

 private:
  void raise_floor(float lower) {
    if (!(lower > floor_) || limit_ == 0) return;
    lowers_.push_back(lower);
    std::push_heap(lowers_.begin(), lowers_.end(), std::greater{});
    if (lowers_.size() > limit_) {
      std::pop_heap(lowers_.begin(), lowers_.end(), std::greater{});
      lowers_.pop_back();
    }
    if (lowers_.size() == limit_) floor_ = lowers_.front();
  }
  void prune() {
    std::erase_if(kept_, [this](const Candidate& candidate) { return !can_enter(candidate.upper); });
    prune_at_ = std::max(prune_at_, 2 * kept_.size());
  }

  const std::size_t limit_;
  float floor_ = -std::numeric_limits<float>::infinity();
  std::vector<float> lowers_;  // The `limit_` highest lower bounds: a heap with the least in front.
  std::vector<Candidate> kept_;
  std::size_t prune_at_ = 1024;
};

}  // namespace footnote::ann
