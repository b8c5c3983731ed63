#pragma once

#include <algorithm>
#include <cstddef>

#include "base/result.h"

namespace footnote::points {

/// Limit on the memory of points that a request reads for its answer.
inline constexpr std::size_t kAnswerBytesMax = 64u << 20;

/// The work budget of one request, shared by all of its queries. A step is about one comparison of a value with a condition, or of two
/// vectors: 10 to 100 ns.
class Work {
 public:
  /// 0: no limit.
  explicit Work(std::size_t steps_max) : steps_max_(steps_max) {}

  /// kInvalidArgument: the request exceeds its budget.
  Result<void> spend(std::size_t steps) {
    spent_ += steps;
    if (steps_max_ == 0 || spent_ <= steps_max_) return {};
    return fail(ErrorCode::kInvalidArgument,
                "the request needs more than {} comparisons (points.work_max): use fewer conditions, prefetches or searches, or declare "
                "an index for the keys that it filters by",
                steps_max_);
  }
  /// Counts memory of points that the answer holds until it is sent. kTooLarge past kAnswerBytesMax.
  Result<void> hold(std::size_t bytes) {
    held_bytes_ += bytes;
    if (held_bytes_ <= kAnswerBytesMax) return {};
    return fail(ErrorCode::kTooLarge,
                "the points of this answer need more than {} MiB: use a smaller limit, fewer searches, or leave out vectors",
                kAnswerBytesMax >> 20);
  }
  /// How many steps are left.
  std::size_t left() const { return steps_max_ == 0 ? static_cast<std::size_t>(-1) : steps_max_ - std::min(spent_, steps_max_); }

 private:
  const std::size_t steps_max_;
  std::size_t spent_ = 0;
  std::size_t held_bytes_ = 0;
};

}  // namespace footnote::points
