#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/bm25/segment.h"
#include "engine/bm25/term_score.h"
#include "engine/bm25/top_rows.h"

namespace footnote::bm25 {

/// Whether a search may skip rows that can't enter the top-k. Results are the same.
enum class Pruning { kOn, kOff };

/// A query term that occurs in the segment.
struct ScanTerm {
  PostingList list;
  const TermScore* score = nullptr;
};

/// Offers to `top` every row that contains a term and is `visible` (one byte per row; empty: all), with its summed term scores times
/// `unit`.
void scan_segment(const Segment& segment, std::span<const ScanTerm> terms, std::span<const std::uint8_t> visible, float unit,
                  Pruning pruning, TopRows& top);

}  // namespace footnote::bm25
