#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "engine/ann/codes.h"
#include "engine/rows/row_table.h"

namespace footnote::ann {

/// Full vectors that failed their sums, counted over all copies of an index.
using DamageCount = std::atomic<std::uint64_t>;

/// The full numbers of a segment's vectors: in memory, or in a mapped file, where each is checked against its sum when it is first met.
class RawVectors {
 public:
  /// In memory, in order. REQUIRES: `stride` floats for each of `count`.
  RawVectors(AlignedFloats values, std::size_t stride, std::size_t count);
  /// In a mapped file, in order; `sums` has one for each. `values` keeps the file mapped.
  RawVectors(std::shared_ptr<const float> values, std::size_t stride, std::vector<std::uint32_t> sums);

  const float* at(std::size_t i) const { return values_.get() + place(i) * stride_; }
  bool in_order_in_memory() const { return !is_mapped() && places_.empty(); }
  bool is_mapped() const { return heap_bytes_ == 0; }
  /// True in memory.
  bool is_sound(std::size_t i) const {
    if (!is_mapped()) return true;
    const Checked known = checked_[place(i)].load(std::memory_order_relaxed);
    return known == Checked::kSound || (known == Checked::kNotYet && check(i));
  }
  /// The same, whatever was known before.
  bool check(std::size_t i) const;
  std::size_t heap_bytes() const { return heap_bytes_; }

  /// Only these, in their order; the numbers stay where they are.
  RawVectors picked(std::span<const std::uint32_t> kept) const;
  /// With the sums made and kept.
  RawVectors sealed() const;
  /// The sum of each. Those of mapped ones are as they were written, so that damage is not covered up.
  std::vector<std::uint32_t> sums() const;
  std::size_t size() const { return count_; }

 private:
  std::size_t place(std::size_t i) const { return places_.empty() ? i : places_[i]; }
  std::uint32_t sum_of(std::size_t i) const;

  std::shared_ptr<const float> values_;  // Shared: copies of a segment hold the same numbers.
  std::size_t stride_;
  std::size_t count_;
  std::size_t heap_bytes_;
  std::vector<std::uint32_t> sums_;                  // Of mapped and sealed ones.
  std::shared_ptr<std::atomic<Checked>[]> checked_;  // Of mapped ones, by place.
  std::vector<std::uint32_t> places_;                // Where each lies, in vectors; empty: in order.
};

/// What stays when the full numbers move from memory to a file.
struct SegmentBody {
  SegmentBody(std::span<const rows::Row> table, std::vector<std::uint32_t> firsts, Codes short_forms);

  rows::RowTable rows;
  std::vector<std::uint32_t> first;  // Row i has the vectors [first[i], first[i + 1]).
  // Both empty where each row has one vector.
  std::vector<std::uint32_t> marks;  // The rows of vector 0, kMarkStep, 2 * kMarkStep and so on.
  std::vector<std::uint8_t> steps;   // How many rows each vector's own comes after that of the mark before it.
  Codes codes;

  static constexpr std::size_t kMarkStep = 256;
};

struct Segment {
  Segment(std::shared_ptr<SegmentBody> parts, RawVectors numbers)
      : body(std::move(parts)), rows(body->rows), first(body->first), codes(body->codes), raw(std::move(numbers)) {}

  std::size_t vector_count() const { return first.back(); }
  bool one_vector_each() const { return vector_count() == rows.size(); }
  std::size_t row_of(std::size_t vector) const {
    return one_vector_each() ? vector : std::size_t{body->marks[vector / SegmentBody::kMarkStep]} + body->steps[vector];
  }
  /// A vector's codes into `out`. Damaged ones are made anew of the full numbers; where those are damaged too, it has zeros.
  void copy_codes(std::size_t vector, std::size_t dimension, Codes& out, std::size_t at, DamageCount& damaged) const;

  const std::shared_ptr<SegmentBody> body;  // Shared: so are the deaths in it.
  rows::RowTable& rows;
  const std::vector<std::uint32_t>& first;
  const Codes& codes;
  const RawVectors raw;
};

using SegmentPtr = std::shared_ptr<Segment>;  // Shared: copies of an index hold the same segments.

/// Lays rows and their vectors out one after the other, in memory.
class SegmentBuilder {
 public:
  SegmentBuilder(std::size_t dimension, std::size_t stride, std::size_t row_count, std::size_t vector_count);

  void add_row(const rows::Row& row);
  /// To the row added last.
  void add_vector(std::span<const float> vector);
  /// With all its vectors. Full numbers that are damaged are made of the codes.
  void copy_row(const Segment& from, std::size_t i, DamageCount& damaged);
  SegmentPtr build();

 private:
  std::size_t dimension_;
  std::size_t stride_;
  AlignedFloats values_;
  Codes codes_;
  std::vector<rows::Row> rows_;
  std::vector<std::uint32_t> first_;
};

/// The rows `living` of a segment; null when there are none. Full numbers stay where they are.
SegmentPtr keep_rows(const Segment& segment, std::size_t dimension, std::span<const std::uint32_t> living, DamageCount& damaged);

}  // namespace footnote::ann
