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

/// Rows and their posting lists. Constant after construction, except for the deaths of rows.
struct Segment {
  explicit Segment(std::span<const rows::Row> table) : rows(table) {}

  PostingList list(std::size_t term) const { return PostingList(std::span(lists).subspan(begins[term], begins[term + 1] - begins[term])); }
  /// The sum of the row lengths.
  std::uint64_t total_length() const;

  rows::RowTable rows;
  std::vector<LengthCode> lengths;  ///< The number of terms in each row, repetitions included.
  TermTable terms;
  std::vector<std::uint32_t> begins;  ///< The list of term t is lists[begins[t], begins[t + 1]).
  std::vector<std::uint8_t> lists;
};

/// Rows to add, term by term: begin_row, add_term..., begin_row... Equal terms are stored once.
class Batch {
 public:
  void begin_row(const rows::Row& row);
  /// Adds a term at a position of the current row. REQUIRES: begin_row() was called.
  void add_term(std::string_view term, std::uint32_t position);

  std::span<const rows::Row> rows() const { return rows_; }
  /// The number of terms in a row, repetitions included.
  std::size_t terms_in(std::uint32_t row) const { return occurrences_of(row).size(); }
  /// Builds a segment of these rows. REQUIRES: row numbers in the order of a RowTable, at most kSegmentRowsMax.
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
  /// The ids of the terms in these rows, sorted by the bytes of their texts.
  std::vector<std::uint32_t> terms_of(std::span<const std::uint32_t> order) const;

  std::vector<rows::Row> rows_;
  std::vector<std::size_t> first_;  // The occurrences of row i are [first_[i], first_[i + 1]).
  std::vector<Occurrence> occurrences_;
  std::unordered_map<std::string, std::uint32_t, Hash, std::equal_to<>> ids_;
  std::vector<const std::string*> names_;  // By id; points to keys of ids_, which are stable.
};

/// Merges segments, without the rows that died in generation `died_until` or earlier; null when no row is left.
std::shared_ptr<Segment> combine(std::span<const Segment* const> parts, std::int64_t died_until);

}  // namespace footnote::bm25
