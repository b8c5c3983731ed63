#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace footnote::rows {

/// A label that was found, and its score.
struct ScoredLabel {
  std::int64_t label = 0;
  float score = 0;

  bool operator==(const ScoredLabel&) const = default;
};

/// Higher scores first; ties are ordered by label.
inline bool ranks_before(const ScoredLabel& a, const ScoredLabel& b) { return a.score != b.score ? a.score > b.score : a.label < b.label; }

/// Keeps the best `limit` of all offers, independent of their order. NaN is never kept.
class TopK {
 public:
  explicit TopK(std::size_t limit) : limit_(limit) {
    if (limit == 0) floor_ = std::numeric_limits<float>::infinity();
  }

  /// Lower scores can't enter.
  float floor() const { return floor_; }

  void offer(std::int64_t label, float score) {
    if (!(score >= floor_) || limit_ == 0) return;
    const ScoredLabel candidate{label, score};
    if (heap_.size() == limit_) {
      if (!ranks_before(candidate, heap_.front())) return;
      std::pop_heap(heap_.begin(), heap_.end(), ranks_before);
      heap_.back() = candidate;
    } else {
      heap_.push_back(candidate);
    }
    std::push_heap(heap_.begin(), heap_.end(), ranks_before);
    if (heap_.size() == limit_) floor_ = heap_.front().score;
  }

  /// Best first. Leaves the object empty.
  std::vector<ScoredLabel> take() {
    std::sort(heap_.begin(), heap_.end(), ranks_before);
    return std::move(heap_);
  }

 private:
  std::size_t limit_;
  float floor_ = -std::numeric_limits<float>::infinity();
  std::vector<ScoredLabel> heap_;  // A heap with the worst kept entry in front.
};

}  // namespace footnote::rows
