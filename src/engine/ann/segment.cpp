#include "engine/ann/segment.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/crc32c.h"

namespace footnote::ann {

RawVectors::RawVectors(AlignedFloats values, std::size_t stride, std::size_t count)
    : stride_(stride), count_(count), heap_bytes_(values.size() * sizeof(float)) {
  const auto owner = std::make_shared<const AlignedFloats>(std::move(values));
  values_ = std::shared_ptr<const float>(owner, owner->data());
}

RawVectors::RawVectors(std::shared_ptr<const float> values, std::size_t stride, std::vector<std::uint32_t> sums)
    : values_(std::move(values)),
      stride_(stride),
      count_(sums.size()),
      heap_bytes_(0),
      sums_(std::move(sums)),
      checked_(new std::atomic<Checked>[count_] {}) {}

std::uint32_t RawVectors::sum_of(std::size_t i) const { return crc32c(std::as_bytes(std::span(at(i), stride_))); }

bool RawVectors::check(std::size_t i) const {
  if (!is_mapped()) return true;
  const bool sound = sum_of(i) == sums_[i];
  checked_[place(i)].store(sound ? Checked::kSound : Checked::kDamaged, std::memory_order_relaxed);
  return sound;
}

RawVectors RawVectors::picked(std::span<const std::uint32_t> kept) const {
  RawVectors out = *this;
  out.count_ = kept.size();
  out.places_.clear();
  out.sums_.clear();
  for (const std::uint32_t i : kept) {
    out.places_.push_back(static_cast<std::uint32_t>(place(i)));
    if (!sums_.empty()) out.sums_.push_back(sums_[i]);
  }
  return out;
}

RawVectors RawVectors::sealed() const {
  RawVectors out = *this;
  out.sums_ = sums();
  return out;
}

std::vector<std::uint32_t> RawVectors::sums() const {
  if (!sums_.empty()) return sums_;
  std::vector<std::uint32_t> out(count_);
  for (std::size_t i = 0; i < count_; ++i) out[i] = sum_of(i);
  return out;
}

SegmentBody::SegmentBody(std::span<const rows::Row> table, std::vector<std::uint32_t> firsts, Codes short_forms)
    : rows(table), first(std::move(firsts)), codes(std::move(short_forms)) {
  if (first.back() == rows.size()) return;
  // A row has at least one vector, so row indexes grow no faster than vector indexes.
  static_assert(kMarkStep - 1 <= std::numeric_limits<std::uint8_t>::max());
  marks.reserve(first.back() / kMarkStep + 1);
  steps.reserve(first.back());
  for (std::uint32_t row = 0; row + 1 < first.size(); ++row) {
    while (steps.size() < first[row + 1]) {
      if (steps.size() % kMarkStep == 0) marks.push_back(row);
      steps.push_back(static_cast<std::uint8_t>(row - marks.back()));
    }
  }
}

void Segment::copy_codes(std::size_t vector, std::size_t dimension, Codes& out, std::size_t at, DamageCount& damaged) const {
  if (codes.is_sound(vector)) return out.copy(at, codes, vector);
  damaged.fetch_add(1, std::memory_order_relaxed);
  if (raw.is_sound(vector)) out.set(at, {raw.at(vector), dimension});
}

SegmentBuilder::SegmentBuilder(std::size_t dimension, std::size_t stride, std::size_t row_count, std::size_t vector_count)
    : dimension_(dimension), stride_(stride), values_(stride * vector_count), codes_(dimension, vector_count) {
  rows_.reserve(row_count);
  first_.reserve(row_count + 1);
  first_.push_back(0);
}

void SegmentBuilder::add_row(const rows::Row& row) {
  rows_.push_back(row);
  first_.push_back(first_.back());
}

void SegmentBuilder::add_vector(std::span<const float> vector) {
  const std::size_t at = first_.back()++;
  std::copy(vector.begin(), vector.end(), values_.data() + stride_ * at);
  codes_.set(at, vector);
}

void SegmentBuilder::copy_row(const Segment& from, std::size_t i, DamageCount& damaged) {
  add_row(from.rows.row(i));
  for (std::size_t v = from.first[i]; v < from.first[i + 1]; ++v) {
    const std::size_t at = first_.back()++;
    float* values = values_.data() + stride_ * at;
    from.copy_codes(v, dimension_, codes_, at, damaged);
    if (from.raw.is_sound(v)) {
      std::memcpy(values, from.raw.at(v), stride_ * sizeof(float));
    } else {
      damaged.fetch_add(1, std::memory_order_relaxed);
      codes_.decode(at, {values, dimension_});
    }
  }
}

SegmentPtr SegmentBuilder::build() {
  codes_.make_signs();
  const std::size_t count = first_.back();
  return std::make_shared<Segment>(std::make_shared<SegmentBody>(rows_, std::move(first_), std::move(codes_)),
                                   RawVectors(std::move(values_), stride_, count));
}

SegmentPtr keep_rows(const Segment& segment, std::size_t dimension, std::span<const std::uint32_t> living, DamageCount& damaged) {
  if (living.empty()) return nullptr;
  std::vector<rows::Row> rows;
  std::vector<std::uint32_t> first{0};
  std::vector<std::uint32_t> vectors;
  for (const std::uint32_t i : living) {
    rows.push_back(segment.rows.row(i));
    for (std::uint32_t v = segment.first[i]; v < segment.first[i + 1]; ++v) vectors.push_back(v);
    first.push_back(static_cast<std::uint32_t>(vectors.size()));
  }
  Codes codes(dimension, vectors.size());
  for (std::size_t v = 0; v < vectors.size(); ++v) segment.copy_codes(vectors[v], dimension, codes, v, damaged);
  codes.make_signs();
  return std::make_shared<Segment>(std::make_shared<SegmentBody>(rows, std::move(first), std::move(codes)), segment.raw.picked(vectors));
}

}  // namespace footnote::ann
