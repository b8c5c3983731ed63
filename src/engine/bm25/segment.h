#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/bm25/posting_list.h"
#include "engine/bm25/term_table.h"
#include "engine/rows/row_table.h"

namespace footnote::bm25 {

/// Rows and where their terms stand. Constant after construction but for the rows' deaths.
struct Segment {
  explicit Segment(std::span<const rows::Row> table) : rows(table) {}

  PostingList list(std::size_t term) const { return PostingList(std::span(lists).subspan(begins[term], begins[term + 1] - begins[term])); }
  /// The sum of the rows' lengths.
  std::uint64_t total_length() const;

  rows::RowTable rows;
  std::vector<LengthCode> lengths;  ///< Terms in each row, repetitions counted.
  TermTable terms;
  std::vector<std::uint32_t> begins;  ///< Term t has the list at bytes [begins[t], begins[t + 1]).
  std::vector<std::uint8_t> lists;
};

/// Rows on their way in, term by term: begin_row, add_term..., begin_row... Equal terms are kept once.
class Batch {
 public:
  void begin_row(const rows::Row& row);
  /// To the row begun last: a term and the place in the row where it stands. REQUIRES: one was.
  void add_term(std::string_view term, std::uint32_t position);

  std::span<const rows::Row> rows() const { return rows_; }
  /// Terms of a row, repetitions counted.
  std::size_t terms_in(std::uint32_t row) const { return occurrences_of(row).size(); }
  /// These rows as a segment. REQUIRES: numbers of rows, in the order of a RowTable, kSegmentRowsMax at most.
  std::shared_ptr<Segment> build(std::span<const std::uint32_t> order) const;

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };
  struct Occurrence {
    std::uint32_t term = 0;
    std::uint32_t position = 0;
  };

  std::span<const Occurrence> occurrences_of(std::uint32_t row) const {
    const std::size_t end = row + 1 < first_.size() ? first_[row + 1] : occurrences_.size();
    return std::span(occurrences_).subspan(first_[row], end - first_[row]);
  }
  /// Numbers of the terms that these rows hold, in byte order of their texts.
  std::vector<std::uint32_t> terms_of(std::span<const std::uint32_t> order) const;

  std::vector<rows::Row> rows_;
  std::vector<std::size_t> first_;  // Row i has the occurrences from first_[i] to the next row's.
  std::vector<Occurrence> occurrences_;
  std::unordered_map<std::string, std::uint32_t, Hash, std::equal_to<>> ids_;
  std::vector<const std::string*> names_;  // By id; keys of ids_, which stay where they are.
};

/// One segment of what these hold, without the rows that died at or before `died_until`; null when nothing is left.
std::shared_ptr<Segment> combine(std::span<const Segment* const> parts, std::int64_t died_until);

}  // namespace footnote::bm25
