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

/// How often full vectors failed their checksum, over all copies of an index.
using DamageCount = std::atomic<std::uint64_t>;

/// The full vectors of a segment: in memory, or in a mapped file, where each is verified on first use.
class RawVectors {
 public:
  /// Held in memory, in order. REQUIRES: `stride` floats for each of `count` vectors.
  RawVectors(AlignedFloats values, std::size_t stride, std::size_t count);
  /// Held in a mapped file, in order, with one checksum per vector. `values` keeps the file mapped.
  RawVectors(std::shared_ptr<const float> values, std::size_t stride, std::vector<std::uint32_t> sums);

  const float* at(std::size_t i) const { return values_.get() + place(i) * stride_; }
  bool in_order_in_memory() const { return !is_mapped() && places_.empty(); }
  bool is_mapped() const { return heap_bytes_ == 0; }
  /// Always true for vectors in memory.
  bool is_sound(std::size_t i) const {
    if (!is_mapped()) return true;
    const Checked known = checked_[place(i)].load(std::memory_order_relaxed);
    return known == Checked::kSound || (known == Checked::kNotYet && check(i));
  }
  /// Verifies vector i again, even if it was verified before.
  bool check(std::size_t i) const;
  std::size_t heap_bytes() const { return heap_bytes_; }

  /// A view of the `kept` vectors, in that order; the data is not copied.
  RawVectors picked(std::span<const std::uint32_t> kept) const;
  /// A copy with its checksums computed.
  RawVectors sealed() const;
  /// The checksum of each vector. For mapped vectors these are the stored ones, so that damage stays detectable.
  std::vector<std::uint32_t> sums() const;
  std::size_t size() const { return count_; }

 private:
  std::size_t place(std::size_t i) const { return places_.empty() ? i : places_[i]; }
  std::uint32_t sum_of(std::size_t i) const;

  std::shared_ptr<const float> values_;  // Shared: copies of a segment use the same data.
  std::size_t stride_;
  std::size_t count_;
  std::size_t heap_bytes_;
  std::vector<std::uint32_t> sums_;                  // For mapped and sealed vectors.
  std::shared_ptr<std::atomic<Checked>[]> checked_;  // For mapped vectors, by position in the file.
  std::vector<std::uint32_t> places_;                // The position of each vector; empty: in order.
};

/// The part of a segment that stays when its full vectors move from memory to a file.
struct SegmentBody {
  SegmentBody(std::span<const rows::Row> table, std::vector<std::uint32_t> firsts, Codes short_forms);

  rows::RowTable rows;
  std::vector<std::uint32_t> first;  // Row i has the vectors [first[i], first[i + 1]).
  // `marks` and `steps` map a vector to its row; both are empty if each row has one vector.
  std::vector<std::uint32_t> marks;  // The rows of vectors 0, kMarkStep, 2 * kMarkStep, ...
  std::vector<std::uint8_t> steps;   // row(vector) = marks[vector / kMarkStep] + steps[vector].
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
  /// Copies a vector's codes into `out`. Damaged codes are recomputed from the full vector, or zeroed if that is damaged too.
  void copy_codes(std::size_t vector, std::size_t dimension, Codes& out, std::size_t at, DamageCount& damaged) const;

  const std::shared_ptr<SegmentBody> body;  // Shared, including the deaths of its rows.
  rows::RowTable& rows;
  const std::vector<std::uint32_t>& first;
  const Codes& codes;
  const RawVectors raw;
};

using SegmentPtr = std::shared_ptr<Segment>;  // Shared: copies of an index use the same segments.

/// Builds a segment in memory, row by row.
class SegmentBuilder {
 public:
  SegmentBuilder(std::size_t dimension, std::size_t stride, std::size_t row_count, std::size_t vector_count);

  void add_row(const rows::Row& row);
  /// Adds a vector to the last row.
  void add_vector(std::span<const float> vector);
  /// Copies a row with all its vectors. Damaged full vectors are rebuilt from their codes.
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

/// A segment of the `living` rows only; null when there are none. Full vectors are not copied.
SegmentPtr keep_rows(const Segment& segment, std::size_t dimension, std::span<const std::uint32_t> living, DamageCount& damaged);

}  // namespace footnote::ann
