#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/ann/segment.h"
#include "engine/rows/row_table.h"

namespace footnote::ann {

/// The rows of a segment that a search may return.
struct ScanScope {
  const Segment* segment = nullptr;
  bool all = false;
  rows::RowBits bits = {};  ///< The visible rows, unless `all`.
  std::size_t rows = 0;

  bool shows(std::size_t row) const { return all || (bits[row / 64] >> (row % 64) & 1) != 0; }
  /// The number of visible vectors; an estimate unless `all`.
  std::size_t vectors() const { return (rows * segment->vector_count() + segment->rows.size() - 1) / segment->rows.size(); }
  /// Calls `visit(begin, end)` for each run of visible rows.
  template <class Visit>
  void for_each_run(const Visit& visit) const {
    if (all) {
      visit(0, segment->rows.size());
    } else {
      rows::for_each_run(bits, visit);
    }
  }
};

/// The scopes of the segments that have a visible row.
std::vector<ScanScope> find_scopes(std::span<const SegmentPtr> segments, std::int64_t generation, const rows::RowFilter& filter);

}  // namespace footnote::ann
