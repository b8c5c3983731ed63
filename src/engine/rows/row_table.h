#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <vector>

#include "base/assert.h"

namespace footnote::rows {

/// `died` of a row that lives.
inline constexpr std::int64_t kAlive = std::numeric_limits<std::int64_t>::max();

/// What a row is called, what it belongs to, and when it is there: in generation g when born <= g < died.
struct Row {
  std::int64_t label = 0;
  std::uint32_t group = 0;
  std::int64_t born = 0;
  std::int64_t died = kAlive;
};

struct Death {
  std::int64_t label = 0;
  std::int64_t died = 0;
};

/// One byte per group: not 0 where its rows may be found.
using GroupMask = std::vector<std::uint8_t>;

/// Which rows a search may find: those that pass both conditions. Borrows what it points to.
struct RowFilter {
  const GroupMask* groups = nullptr;                         ///< Null lets all through; a group past its end is not let through.
  std::optional<std::span<const std::int64_t>> labels = {};  ///< Ascending; nothing set lets all through.

  bool passes_all() const { return groups == nullptr && !labels; }
};

/// Names and lives of one segment's rows, sorted by label, then birth. All but the deaths is constant after
/// construction. One writer may set deaths while readers look on: a reader of a generation before that death sees a
/// living row whether it meets the old value or the new.
class RowTable {
 public:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  /// REQUIRES: sorted by label, then birth.
  explicit RowTable(std::span<const Row> rows)
      : labels_(rows.size()), born_(rows.size()), groups_(rows.size()), died_(std::make_unique<std::atomic<std::int64_t>[]>(rows.size())) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      FOOTNOTE_ASSERT(i == 0 || rows[i - 1].label <= rows[i].label);
      labels_[i] = rows[i].label;
      born_[i] = rows[i].born;
      groups_[i] = rows[i].group;
      died_[i].store(rows[i].died, std::memory_order_relaxed);
      born_last_ = std::max(born_last_, rows[i].born);
      if (rows[i].died < died_first()) died_first_.store(rows[i].died, std::memory_order_relaxed);
    }
  }

  std::size_t size() const { return labels_.size(); }
  std::int64_t label(std::size_t i) const { return labels_[i]; }
  std::uint32_t group(std::size_t i) const { return groups_[i]; }
  std::int64_t died(std::size_t i) const { return died_[i].load(std::memory_order_relaxed); }
  Row row(std::size_t i) const { return {labels_[i], groups_[i], born_[i], died(i)}; }

  bool alive_at(std::size_t i, std::int64_t generation) const { return born_[i] <= generation && generation < died(i); }
  bool all_alive_at(std::int64_t generation) const { return born_last_ <= generation && generation < died_first(); }
  /// True when some row had died by then.
  bool any_dead_by(std::int64_t generation) const { return died_first() <= generation; }

  /// The row of that label that is there in that generation, or kNone.
  std::size_t find(std::int64_t label, std::int64_t generation) const {
    for (std::size_t i = lower_bound(label); i < size() && labels_[i] == label; ++i) {
      if (alive_at(i, generation)) return i;
    }
    return kNone;
  }

  /// Ends the living row of that label that was born before; kNone when there is none.
  std::size_t end(const Death& death) {
    for (std::size_t i = lower_bound(death.label); i < size() && labels_[i] == death.label; ++i) {
      if (died(i) != kAlive || born_[i] >= death.died) continue;
      died_[i].store(death.died, std::memory_order_relaxed);
      if (death.died < died_first()) died_first_.store(death.died, std::memory_order_relaxed);
      return i;
    }
    return kNone;
  }

  /// One byte per row, not 0 where the row is there in that generation and the filter lets it through.
  void mark_visible(std::int64_t generation, const RowFilter& filter, std::vector<std::uint8_t>& out) const {
    const GroupMask* const groups = filter.groups;
    if (filter.labels) {
      out.assign(size(), 0);
      mark_labels(*filter.labels, out);
    } else {
      out.assign(size(), 1);
    }
    for (std::size_t i = 0; i < size(); ++i) {
      out[i] = out[i] && alive_at(i, generation) && (groups == nullptr || (groups_[i] < groups->size() && (*groups)[groups_[i]]));
    }
  }

 private:
  std::int64_t died_first() const { return died_first_.load(std::memory_order_relaxed); }
  void mark_labels(std::span<const std::int64_t> labels, std::vector<std::uint8_t>& out) const {
    if (labels_.empty()) return;
    auto row = labels_.begin();
    const auto last = std::upper_bound(labels.begin(), labels.end(), labels_.back());
    for (auto label = std::lower_bound(labels.begin(), last, labels_.front()); label != last; ++label) {
      row = std::lower_bound(row, labels_.end(), *label);
      for (; row != labels_.end() && *row == *label; ++row) out[static_cast<std::size_t>(row - labels_.begin())] = 1;
    }
  }
  std::size_t lower_bound(std::int64_t label) const {
    // Labels mostly come in order, so most segments are ruled out by their ends.
    if (labels_.empty() || label < labels_.front() || label > labels_.back()) return size();
    return static_cast<std::size_t>(std::lower_bound(labels_.begin(), labels_.end(), label) - labels_.begin());
  }

  // Constant after construction.
  std::vector<std::int64_t> labels_;
  std::vector<std::int64_t> born_;
  std::vector<std::uint32_t> groups_;
  std::int64_t born_last_ = 0;
  // Written by the one writer, read by all.
  std::unique_ptr<std::atomic<std::int64_t>[]> died_;
  std::atomic<std::int64_t> died_first_{kAlive};
};

/// Appends a segment and merges the tail so that sizes at least halve from one to the next: each row is copied a
/// logarithmic number of times however it came, and a search meets few segments. None grows past `rows_max` by merging.
/// `merge(older, newer)` gives the segment that takes the place of both.
template <class Segment, class Merge>
void append_tiered(std::vector<std::shared_ptr<Segment>>& segments, std::shared_ptr<Segment> fresh, std::size_t rows_max,
                   const Merge& merge) {
  segments.push_back(std::move(fresh));
  while (segments.size() >= 2) {
    const auto& newer = segments.back();
    const auto& older = segments[segments.size() - 2];
    if (older->rows.size() >= 2 * newer->rows.size() || older->rows.size() + newer->rows.size() > rows_max) return;
    auto merged = merge(*older, *newer);
    segments.pop_back();
    segments.back() = std::move(merged);
  }
}

/// The order in which `rows` must stand for a RowTable.
inline std::vector<std::uint32_t> sorted_order(std::span<const Row> rows) {
  std::vector<std::uint32_t> order(rows.size());
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::pair(rows[a].label, rows[a].born) < std::pair(rows[b].label, rows[b].born);
  });
  return order;
}

}  // namespace footnote::rows

namespace footnote::ann {
using namespace rows;  // The name under which both indexes still speak of rows.
}
