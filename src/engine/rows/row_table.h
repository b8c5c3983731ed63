#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <vector>

#include "base/assert.h"

namespace footnote::rows {

/// `died` of a live row.
inline constexpr std::int64_t kAlive = std::numeric_limits<std::int64_t>::max();

/// A row's label, its group, and its lifetime: it is visible in generation g when born <= g < died.
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

/// One byte per group; if not 0, rows of the group may be found.
using GroupMask = std::vector<std::uint8_t>;

/// The rows that a search may return: those that pass both conditions. Borrows what it points to.
struct RowFilter {
  const GroupMask* groups = nullptr;                         ///< Null lets all groups through; a group beyond the end does not pass.
  std::optional<std::span<const std::int64_t>> labels = {};  ///< Ascending; nullopt lets all labels through.

  bool passes_all() const { return groups == nullptr && !labels; }
};

/// One bit per row, 64 to a word.
using RowBits = std::vector<std::uint64_t>;

/// Calls `visit(begin, end)` for each run of set bits, in order.
template <class Visit>
void for_each_run(const RowBits& bits, const Visit& visit) {
  std::size_t begin = 0;
  std::size_t end = 0;  // [begin, end) is a run that may continue in the next word.
  for (std::size_t w = 0; w < bits.size(); ++w) {
    std::uint64_t word = bits[w];
    while (word != 0) {
      const auto skip = static_cast<std::size_t>(std::countr_zero(word));
      const auto ones = static_cast<std::size_t>(std::countr_one(word >> skip));
      const std::size_t at = w * 64 + skip;
      if (at != end) {
        if (end > begin) visit(begin, end);
        begin = at;
      }
      end = at + ones;
      if (skip + ones == 64) break;
      word &= ~std::uint64_t{0} << (skip + ones);
    }
  }
  if (end > begin) visit(begin, end);
}

/// The labels and lifetimes of one segment's rows, sorted by label, then birth. Everything but the deaths is constant after construction.
/// One writer may set deaths while others read: a reader of an earlier generation sees a live row whether it loads the old value or the
/// new.
class RowTable {
 public:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  /// REQUIRES: sorted by label, then birth.
  explicit RowTable(std::span<const Row> rows)
      : labels_(rows.size()),
        born_(rows.size()),
        groups_(rows.size()),
        group_ranges_((rows.size() + 63) / 64),
        group_begins_((rows.size() + 63) / 64),
        died_(std::make_unique<std::atomic<std::int64_t>[]>(rows.size())) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      FOOTNOTE_ASSERT(i == 0 || rows[i - 1].label <= rows[i].label);
      labels_[i] = rows[i].label;
      born_[i] = rows[i].born;
      groups_[i] = rows[i].group;
      died_[i].store(rows[i].died, std::memory_order_relaxed);
      GroupRange& range = group_ranges_[i / 64];
      range.first = i % 64 == 0 ? rows[i].group : std::min(range.first, rows[i].group);
      range.last = i % 64 == 0 ? rows[i].group : std::max(range.last, rows[i].group);
      const bool begins = i % 64 == 0 || rows[i].group != rows[i - 1].group;
      group_begins_[i / 64] |= static_cast<std::uint64_t>(begins) << (i % 64);
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
  /// True when a row had died by that generation.
  bool any_dead_by(std::int64_t generation) const { return died_first() <= generation; }

  template <class Visit>
  void for_each_alive(std::int64_t generation, const Visit& visit) const {
    for (std::size_t i = 0; i < size(); ++i) {
      if (alive_at(i, generation)) visit(row(i));
    }
  }

  /// The row of that label that is visible in that generation, or kNone.
  std::size_t find(std::int64_t label, std::int64_t generation) const {
    for (std::size_t i = lower_bound(label); i < size() && labels_[i] == label; ++i) {
      if (alive_at(i, generation)) return i;
    }
    return kNone;
  }

  /// The row with that label and birth, dead or alive, or kNone.
  std::size_t find_born(std::int64_t label, std::int64_t born) const {
    for (std::size_t i = lower_bound(label); i < size() && labels_[i] == label; ++i) {
      if (born_[i] == born) return i;
    }
    return kNone;
  }

  /// Ends the live row of that label that was born before the death; kNone when there is none.
  std::size_t end(const Death& death) {
    for (std::size_t i = lower_bound(death.label); i < size() && labels_[i] == death.label; ++i) {
      if (died(i) != kAlive || born_[i] >= death.died) continue;
      died_[i].store(death.died, std::memory_order_relaxed);
      if (death.died < died_first()) died_first_.store(death.died, std::memory_order_relaxed);
      return i;
    }
    return kNone;
  }

  /// Sets the bits of the rows that are visible in that generation and pass the filter; returns their number. 100,000 rows take about 10
  /// us: rows of a document are adjacent, so 64 rows at a time are skipped when none of their groups passes.
  std::size_t find_visible(std::int64_t generation, const RowFilter& filter, RowBits& out) const {
    out.assign((size() + 63) / 64, 0);
    if (filter.labels) {
      for_each_labelled(*filter.labels, [&](std::size_t i) { out[i / 64] |= std::uint64_t{1} << (i % 64); });
    } else {
      std::fill(out.begin(), out.end(), ~std::uint64_t{0});
      if (size() % 64 != 0) out.back() >>= 64 - size() % 64;
    }
    const bool all_alive = all_alive_at(generation);
    std::size_t count = 0;
    for (std::size_t w = 0; w < out.size(); ++w) {
      if (filter.groups != nullptr && out[w] != 0) out[w] &= group_bits(*filter.groups, w);
      if (!all_alive && out[w] != 0) out[w] &= alive_bits(generation, w, out[w]);
      count += static_cast<std::size_t>(std::popcount(out[w]));
    }
    return count;
  }

  /// Sets one byte per row: not 0 if the row is visible in that generation and passes the filter.
  void mark_visible(std::int64_t generation, const RowFilter& filter, std::vector<std::uint8_t>& out) const {
    const GroupMask* const groups = filter.groups;
    if (filter.labels) {
      out.assign(size(), 0);
      for_each_labelled(*filter.labels, [&](std::size_t i) { out[i] = 1; });
    } else {
      out.assign(size(), 1);
    }
    for (std::size_t i = 0; i < size(); ++i) {
      out[i] = out[i] && alive_at(i, generation) && (groups == nullptr || (groups_[i] < groups->size() && (*groups)[groups_[i]]));
    }
  }

 private:
  std::int64_t died_first() const { return died_first_.load(std::memory_order_relaxed); }
  struct GroupRange {
    std::uint32_t first = 0;
    std::uint32_t last = 0;
  };

  /// Calls `visit(row)` for the rows of these labels. REQUIRES: labels ascend.
  template <class Visit>
  void for_each_labelled(std::span<const std::int64_t> labels, const Visit& visit) const {
    if (labels_.empty()) return;
    auto row = labels_.begin();
    const auto last = std::upper_bound(labels.begin(), labels.end(), labels_.back());
    for (auto label = std::lower_bound(labels.begin(), last, labels_.front()); label != last; ++label) {
      row = std::lower_bound(row, labels_.end(), *label);
      for (; row != labels_.end() && *row == *label; ++row) visit(static_cast<std::size_t>(row - labels_.begin()));
    }
  }
  /// Bits of the rows in word w whose groups pass; bits past the last row are undefined.
  std::uint64_t group_bits(const GroupMask& groups, std::size_t w) const {
    const auto [first, last] = group_ranges_[w];
    // For a short range of groups, test the mask first: often the rows need not be read.
    constexpr std::uint32_t kRangeShort = 256;
    if (last - first < kRangeShort) {
      const std::size_t end = std::min<std::size_t>(last + 1, groups.size());
      if (first >= end || std::all_of(groups.begin() + first, groups.begin() + static_cast<std::ptrdiff_t>(end),
                                      [](std::uint8_t let) { return let == 0; })) {
        return 0;
      }
    }
    // Rows of one group are adjacent, so a row's bit equals the previous row's bit unless a new group begins.
    std::uint64_t word = 0;
    std::uint64_t before = 0;
    for (std::uint64_t begins = group_begins_[w]; begins != 0; begins &= begins - 1) {
      const auto bit = static_cast<std::size_t>(std::countr_zero(begins));
      const std::uint32_t group = groups_[w * 64 + bit];
      const std::uint64_t let = group < groups.size() && groups[group] != 0 ? ~std::uint64_t{0} : 0;
      word ^= (let ^ before) << bit;
      before = let;
    }
    return word;
  }
  /// The bits of `asked` whose rows are alive.
  std::uint64_t alive_bits(std::int64_t generation, std::size_t w, std::uint64_t asked) const {
    std::uint64_t word = 0;
    for (; asked != 0; asked &= asked - 1) {
      const auto bit = static_cast<std::size_t>(std::countr_zero(asked));
      word |= static_cast<std::uint64_t>(alive_at(w * 64 + bit, generation)) << bit;
    }
    return word;
  }
  std::size_t lower_bound(std::int64_t label) const {
    // Labels mostly arrive in ascending order, so the first and last label rule out most segments.
    if (labels_.empty() || label < labels_.front() || label > labels_.back()) return size();
    // Labels without gaps: the row index is the distance from the first label.
    const auto guess = static_cast<std::uint64_t>(label) - static_cast<std::uint64_t>(labels_.front());
    if (guess < size() && labels_[guess] == label && (guess == 0 || labels_[guess - 1] != label)) return guess;
    return static_cast<std::size_t>(std::lower_bound(labels_.begin(), labels_.end(), label) - labels_.begin());
  }

  // Constant after construction.
  std::vector<std::int64_t> labels_;
  std::vector<std::int64_t> born_;
  std::vector<std::uint32_t> groups_;
  std::vector<GroupRange> group_ranges_;     // The range of groups of each 64 rows.
  std::vector<std::uint64_t> group_begins_;  // One bit per row: its group differs from the previous row's. Set for the first of every 64.
  std::int64_t born_last_ = 0;
  // Set by the writer, read by all.
  std::unique_ptr<std::atomic<std::int64_t>[]> died_;
  std::atomic<std::int64_t> died_first_{kAlive};
};

/// Appends a segment and merges the tail, so that segment sizes at least halve from one to the next. Each row is then copied O(log n)
/// times, and a search meets few segments. Merging never creates more than `rows_max` rows. `merge(older, newer)` returns the segment that
/// replaces both.
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

/// The order in which a RowTable needs `rows`.
inline std::vector<std::uint32_t> sorted_order(std::span<const Row> rows) {
  std::vector<std::uint32_t> order(rows.size());
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::pair(rows[a].label, rows[a].born) < std::pair(rows[b].label, rows[b].born);
  });
  return order;
}

}  // namespace footnote::rows
