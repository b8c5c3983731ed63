#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>

#include "engine/rows/top_k.h"

namespace footnote::bm25 {

/// Keeps the best `limit` of all offers, independent of their order, like rows::TopK. It selects only after 2 * limit offers: an offer
/// costs next to nothing, and the floor rises in steps.
class TopRows {
 public:
  /// REQUIRES: limit > 0.
  explicit TopRows(std::size_t limit) : limit_(limit), room_(limit > std::numeric_limits<std::size_t>::max() / 2 ? limit : 2 * limit) {}

  /// Lower scores can't enter.
  float floor() const { return floor_; }

  /// True when the floor rose.
  bool offer(std::int64_t label, float score) {
    if (score < floor_) return false;
    found_.push_back({label, score});
    if (found_.size() < room_) return false;
    sort_out();
    return true;
  }

  /// Best first. Leaves the object empty.
  std::vector<rows::ScoredLabel> take() {
    if (found_.size() > limit_) sort_out();
    std::ranges::sort(found_, rows::ranks_before);
    return std::move(found_);
  }

 private:
  void sort_out() {
    const auto last = found_.begin() + static_cast<std::ptrdiff_t>(limit_ - 1);
    std::nth_element(found_.begin(), last, found_.end(), rows::ranks_before);
    floor_ = last->score;
    found_.resize(limit_);
  }

  std::size_t limit_;
  std::size_t room_;
  float floor_ = -std::numeric_limits<float>::infinity();
  std::vector<rows::ScoredLabel> found_;
};

}  // namespace footnote::bm25
