#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/bm25/term_table.h"
#include "engine/rows/row_table.h"

namespace footnote::bm25 {

/// A row of a segment and how often it holds the term: row in the upper 24 bits, count (at most 255) in the lower 8.
/// Past 255 a count adds nothing that BM25 would notice.
using Posting = std::uint32_t;
inline constexpr std::uint32_t kCountMax = 255;
inline constexpr Posting posting_of(std::uint32_t row, std::uint32_t count) { return row << 8 | (count < kCountMax ? count : kCountMax); }
inline constexpr std::uint32_t row_of(Posting posting) { return posting >> 8; }
inline constexpr std::uint32_t count_of(Posting posting) { return posting & kCountMax; }

/// Rows and where their terms stand. Constant after construction but for the rows' deaths.
struct Segment {
  explicit Segment(std::span<const ann::Row> table) : rows(table) {}

  std::span<const Posting> postings_of(std::size_t term) const {
    return std::span(postings).subspan(first[term], first[term + 1] - first[term]);
  }
  /// True when that row holds that term.
  bool holds(std::size_t row, std::size_t term) const;

  ann::RowTable rows;
  std::vector<std::uint32_t> lengths;  ///< Terms in each row, repetitions counted.
  TermTable terms;
  std::vector<std::uint32_t> first;  ///< Term t has postings [first[t], first[t + 1]), by row.
  std::vector<Posting> postings;
};

/// Rows on their way in, term by term: begin_row, add_term..., begin_row... Equal terms are kept once.
class Batch {
 public:
  void begin_row(const ann::Row& row);
  /// To the row begun last. REQUIRES: one was.
  void add_term(std::string_view term);

  std::span<const ann::Row> rows() const { return rows_; }
  /// These rows as a segment. REQUIRES: numbers of rows, in the order of a RowTable.
  std::shared_ptr<Segment> build(std::span<const std::uint32_t> order) const;

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };

  std::vector<ann::Row> rows_;
  std::vector<std::size_t> first_term_;  // Row i has the terms from first_term_[i] to the next row's.
  std::vector<std::uint32_t> term_ids_;
  std::unordered_map<std::string, std::uint32_t, Hash, std::equal_to<>> ids_;
  std::vector<const std::string*> names_;  // By id; keys of ids_, which stay where they are.
};

/// One segment of what these hold, without the rows that died at or before `died_until`; null when nothing is left.
std::shared_ptr<Segment> combine(std::span<const Segment* const> parts, std::int64_t died_until);

}  // namespace footnote::bm25
