#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/bm25/segment.h"
#include "engine/bm25/term_score.h"
#include "engine/bm25/top_rows.h"

namespace footnote::bm25 {

/// Whether a search may pass over rows that can't get into the list. The answer is the same.
enum class Pruning { kOn, kOff };

/// A query term that the segment knows.
struct ScanTerm {
  PostingList list;
  const TermScore* score = nullptr;
};

/// Offers to `top` the rows of a segment that hold a term and that `visible` (a byte per row; empty: all) lets through,
/// with the sum of what their terms add times `unit`.
void scan_segment(const Segment& segment, std::span<const ScanTerm> terms, std::span<const std::uint8_t> visible, float unit,
                  Pruning pruning, TopRows& top);

}  // namespace footnote::bm25
