#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "domain/ids.h"

namespace footnote {

/// A chunk of the newest generation, and the generation it was born in.
struct LiveRow {
  ChunkId chunk;
  Generation born = 0;

  bool operator==(const LiveRow&) const = default;
};

/// An order-independent digest of a set of rows. The store maintains the same sums in its SQL triggers: both computations must stay
/// identical.
struct LiveDigest {
  Generation generation = 0;
  std::int64_t count = 0;
  std::int64_t sum = 0;

  void add(const LiveRow& row) {
    constexpr std::uint64_t kSumMask = (std::uint64_t{1} << 62) - 1;
    const auto chunk = static_cast<std::uint64_t>(row.chunk.value);
    const std::uint64_t mixed = (chunk * 40'503 + static_cast<std::uint64_t>(row.born) * 2'654'435'761) & 0x7FFFFFFF;
    ++count;
    sum = static_cast<std::int64_t>((static_cast<std::uint64_t>(sum) + (((mixed * mixed) >> 8) & 0xFFFFFFFF)) & kSumMask);
  }
  bool operator==(const LiveDigest&) const = default;
};

/// How an index's rows differ from the store's.
struct RowDifferences {
  std::size_t missing = 0;  ///< Only the store has them.
  std::size_t extra = 0;    ///< Only the index has them.
  std::size_t stale = 0;    ///< Both have the chunk, with different birth generations.

  std::size_t total() const { return missing + extra + stale; }
};

/// REQUIRES: both are sorted by chunk, without duplicates.
inline RowDifferences compare_rows(const std::vector<LiveRow>& store, const std::vector<LiveRow>& index) {
  RowDifferences out;
  auto theirs = index.begin();
  for (const LiveRow& row : store) {
    for (; theirs != index.end() && theirs->chunk < row.chunk; ++theirs) ++out.extra;
    const bool both = theirs != index.end() && theirs->chunk == row.chunk;
    if (!both) {
      ++out.missing;
    } else {
      out.stale += theirs->born == row.born ? 0U : 1U;
      ++theirs;
    }
  }
  out.extra += static_cast<std::size_t>(index.end() - theirs);
  return out;
}

}  // namespace footnote
