#include "engine/ann/flat_index.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <utility>

#include "base/assert.h"
#include "engine/ann/aligned_floats.h"

namespace footnote::ann {
namespace {

// Products of this many vectors are made before the heap looks at them: they stay in the first-level cache.
constexpr std::size_t kScanBlock = 512;

AlignedFloats padded(std::span<const float> vector, std::size_t stride) {
  AlignedFloats out(stride);
  std::copy(vector.begin(), vector.end(), out.data());
  return out;
}

}  // namespace

struct FlatIndex::Segment {
  Segment(std::span<const Row> table, std::vector<std::uint32_t> firsts, AlignedFloats data)
      : rows(table), first(std::move(firsts)), values(std::move(data)) {}

  RowTable rows;
  std::vector<std::uint32_t> first;  // Row i has the vectors [first[i], first[i + 1]).
  AlignedFloats values;
};

/// Lays rows and their vectors out one after the other.
class FlatIndex::SegmentBuilder {
 public:
  SegmentBuilder(std::size_t stride, std::size_t row_count, std::size_t vector_count) : stride_(stride), values_(stride * vector_count) {
    rows_.reserve(row_count);
    first_.reserve(row_count + 1);
    first_.push_back(0);
  }

  void add_row(const Row& row) {
    rows_.push_back(row);
    first_.push_back(first_.back());
  }
  /// To the row added last.
  void add_vector(std::span<const float> vector) {
    std::copy(vector.begin(), vector.end(), values_.data() + stride_ * first_.back());
    ++first_.back();
  }
  void copy_row(const Segment& from, std::size_t i) {
    add_row(from.rows.row(i));
    const std::size_t count = from.first[i + 1] - from.first[i];
    std::memcpy(values_.data() + stride_ * first_.back(), from.values.data() + stride_ * from.first[i], stride_ * count * sizeof(float));
    first_.back() += static_cast<std::uint32_t>(count);
  }
  SegmentPtr build() { return std::make_shared<Segment>(rows_, std::move(first_), std::move(values_)); }

 private:
  std::size_t stride_;
  AlignedFloats values_;
  std::vector<Row> rows_;
  std::vector<std::uint32_t> first_;
};

FlatIndex::FlatIndex(std::size_t dimension, cpu::CpuLevel level)
    : dimension_(dimension), stride_((dimension + kDotPadding - 1) / kDotPadding * kDotPadding), dot_(dot_kernel(level)) {
  FOOTNOTE_ASSERT(dimension > 0);
}

FlatIndex::SegmentPtr FlatIndex::merge(const Segment& older, const Segment& newer) const {
  SegmentBuilder out(stride_, older.rows.size() + newer.rows.size(), older.first.back() + newer.first.back());
  std::size_t a = 0;
  std::size_t b = 0;
  while (a < older.rows.size() || b < newer.rows.size()) {
    const bool take_older = b == newer.rows.size() || (a < older.rows.size() && older.rows.label(a) <= newer.rows.label(b));
    if (take_older) {
      out.copy_row(older, a++);
    } else {
      out.copy_row(newer, b++);
    }
  }
  return out.build();
}

void FlatIndex::apply(std::span<const FlatEntry> added, std::span<const Death> ended) {
  const auto end_row = [this](const Death& death) {
    return std::any_of(segments_.begin(), segments_.end(),
                       [&](const SegmentPtr& segment) { return segment->rows.end(death) != RowTable::kNone; });
  };
  // A row that was there before goes first, so that a label may end and begin anew in one step.
  std::vector<Death> open;
  for (const Death& death : ended) {
    if (!end_row(death)) open.push_back(death);
  }
  std::vector<Row> rows(added.size());
  std::transform(added.begin(), added.end(), rows.begin(), [](const FlatEntry& entry) { return entry.row; });
  const auto order = sorted_order(rows);
  for (std::size_t begin = 0; begin < order.size(); begin += kSegmentRowsMax) {
    const auto part = std::span(order).subspan(begin, std::min(kSegmentRowsMax, order.size() - begin));
    std::size_t vector_count = 0;
    for (const std::uint32_t i : part) vector_count += added[i].vectors.size();
    SegmentBuilder builder(stride_, part.size(), vector_count);
    for (const std::uint32_t i : part) {
      builder.add_row(added[i].row);
      FOOTNOTE_ASSERT(!added[i].vectors.empty());
      for (const auto vector : added[i].vectors) {
        FOOTNOTE_ASSERT(vector.size() == dimension_);
        builder.add_vector(vector);
      }
    }
    append_tiered(segments_, builder.build(), kSegmentRowsMax,
                  [this](const Segment& older, const Segment& newer) { return merge(older, newer); });
  }
  for (const Death& death : open) end_row(death);
}

void FlatIndex::forget(std::int64_t died_until) {
  std::vector<SegmentPtr> kept;
  for (const auto& segment : segments_) {
    if (!segment->rows.any_dead_by(died_until)) {
      kept.push_back(segment);
      continue;
    }
    std::vector<std::size_t> living;
    std::size_t vector_count = 0;
    for (std::size_t i = 0; i < segment->rows.size(); ++i) {
      if (segment->rows.died(i) <= died_until) continue;
      living.push_back(i);
      vector_count += segment->first[i + 1] - segment->first[i];
    }
    if (living.empty()) continue;
    SegmentBuilder builder(stride_, living.size(), vector_count);
    for (const std::size_t i : living) builder.copy_row(*segment, i);
    kept.push_back(builder.build());
  }
  segments_ = std::move(kept);
}

void FlatIndex::scan(const Segment& segment, const float* query, const FlatQuery& options, TopK& top) const {
  const RowTable& rows = segment.rows;
  const bool all = options.filter.passes_all() && rows.all_alive_at(options.generation);
  std::vector<std::uint8_t> visible;
  if (!all) rows.mark_visible(options.generation, options.filter, visible);
  std::vector<float> products(kScanBlock);
  for (std::size_t i = 0; i < rows.size();) {
    if (!all && !visible[i]) {
      ++i;
      continue;
    }
    std::size_t end = i + 1;
    while (end < rows.size() && (all || visible[end]) && segment.first[end + 1] - segment.first[i] <= kScanBlock) ++end;
    const std::size_t base = segment.first[i];
    const std::size_t count = segment.first[end] - base;
    if (count > products.size()) products.resize(count);
    dot_(query, segment.values.data() + base * stride_, stride_, count, products.data());
    for (; i < end; ++i) {
      const auto begin_product = products.begin() + static_cast<std::ptrdiff_t>(segment.first[i] - base);
      const auto end_product = products.begin() + static_cast<std::ptrdiff_t>(segment.first[i + 1] - base);
      top.offer(rows.label(i), *std::max_element(begin_product, end_product));
    }
  }
}

std::vector<ScoredLabel> FlatIndex::search(const FlatQuery& query) const {
  FOOTNOTE_ASSERT(query.vector.size() == dimension_);
  const AlignedFloats vector = padded(query.vector, stride_);
  TopK top(query.limit);
  for (const auto& segment : segments_) scan(*segment, vector.data(), query, top);
  return top.take();
}

std::vector<float> FlatIndex::score(std::span<const float> vector, std::int64_t generation, std::span<const std::int64_t> labels) const {
  FOOTNOTE_ASSERT(vector.size() == dimension_);
  const AlignedFloats query = padded(vector, stride_);
  std::vector<float> out(labels.size(), 0.0F);
  std::vector<float> products;
  for (std::size_t l = 0; l < labels.size(); ++l) {
    for (const auto& segment : segments_) {
      const std::size_t i = segment->rows.find(labels[l], generation);
      if (i == RowTable::kNone) continue;
      products.resize(segment->first[i + 1] - segment->first[i]);
      dot_(query.data(), segment->values.data() + segment->first[i] * stride_, stride_, products.size(), products.data());
      out[l] = *std::max_element(products.begin(), products.end());
      break;
    }
  }
  return out;
}

Result<void> FlatIndex::save(ByteSink& sink) const {
  FOOTNOTE_CHECK(sink.put(static_cast<std::uint32_t>(dimension_)));
  FOOTNOTE_CHECK(sink.put(static_cast<std::uint32_t>(segments_.size())));
  for (const auto& segment : segments_) {
    FOOTNOTE_CHECK(write_rows(sink, segment->rows));
    FOOTNOTE_CHECK(sink.put_all<std::uint32_t>(segment->first));
    FOOTNOTE_CHECK(sink.put_all(std::span<const float>(segment->values.data(), stride_ * segment->first.back())));
  }
  return {};
}

Result<FlatIndex::SegmentPtr> FlatIndex::load_segment(ByteSource& source, const RowLimits& limits) const {
  FOOTNOTE_TRY(const auto rows, read_rows(source, limits));
  FOOTNOTE_TRY(auto first, source.take_all<std::uint32_t>(rows.size() + 1));
  // Each row has a vector or more.
  const bool ascending = std::ranges::adjacent_find(first, std::greater_equal{}) == first.end();
  if (first.front() != 0 || !ascending) return fail(ErrorCode::kCorrupted, "a segment's vectors are out of order");
  const std::uint64_t room = source.remaining() / sizeof(float) / stride_;
  if (first.back() > room) return fail(ErrorCode::kCorrupted, "{} vectors are announced, and there is room for {}", first.back(), room);
  const std::size_t count = first.back() * stride_;
  AlignedFloats values(count);
  FOOTNOTE_CHECK(source.read(std::as_writable_bytes(std::span(values.data(), count))));
  return std::make_shared<Segment>(rows, std::move(first), std::move(values));
}

Result<FlatIndex> FlatIndex::load(ByteSource& source, RowLimits limits, cpu::CpuLevel level) {
  limits.rows_max = kSegmentRowsMax;
  FOOTNOTE_TRY(const auto dimension, source.take<std::uint32_t>());
  if (dimension == 0) return fail(ErrorCode::kCorrupted, "vectors without numbers");
  FlatIndex index(dimension, level);
  FOOTNOTE_TRY(const auto segments, source.take<std::uint32_t>());
  for (std::uint32_t i = 0; i < segments; ++i) {
    FOOTNOTE_TRY(auto segment, index.load_segment(source, limits));
    index.segments_.push_back(std::move(segment));
  }
  return index;
}

bool FlatIndex::contains(std::int64_t label, std::int64_t generation) const {
  return std::any_of(segments_.begin(), segments_.end(),
                     [&](const SegmentPtr& segment) { return segment->rows.find(label, generation) != RowTable::kNone; });
}

void FlatIndex::mark_groups(GroupMask& used) const {
  for (const auto& segment : segments_) {
    for (std::size_t i = 0; i < segment->rows.size(); ++i) used[segment->rows.group(i)] = 1;
  }
}

std::size_t FlatIndex::row_count() const {
  std::size_t count = 0;
  for (const auto& segment : segments_) count += segment->rows.size();
  return count;
}

}  // namespace footnote::ann
