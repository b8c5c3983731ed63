#include "engine/ann/flat_index.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <utility>

#include "base/assert.h"

namespace footnote::ann {

FlatIndex::FlatIndex(std::size_t dimension, Metric metric, cpu::CpuLevel level)
    : space_{.metric = metric,
             .dimension = dimension,
             .stride = (dimension + kFloatPadding - 1) / kFloatPadding * kFloatPadding,
             .kernels = &kernels_of(level)},
      damaged_(std::make_shared<DamageCount>(0)) {
  FOOTNOTE_ASSERT(dimension > 0 && dimension <= kDimensionMax);
}

SegmentPtr FlatIndex::merge(const Segment& older, const Segment& newer) const {
  SegmentBuilder out(space_.dimension, space_.stride, older.rows.size() + newer.rows.size(), older.first.back() + newer.first.back());
  std::size_t a = 0;
  std::size_t b = 0;
  while (a < older.rows.size() || b < newer.rows.size()) {
    const bool take_older = b == newer.rows.size() || (a < older.rows.size() && older.rows.label(a) <= newer.rows.label(b));
    if (take_older) {
      out.copy_row(older, a++, *damaged_);
    } else {
      out.copy_row(newer, b++, *damaged_);
    }
  }
  return out.build();
}

void FlatIndex::apply(std::span<const FlatEntry> added, std::span<const rows::Death> ended) {
  const auto end_row = [this](const rows::Death& death) {
    return std::any_of(segments_.begin(), segments_.end(),
                       [&](const SegmentPtr& segment) { return segment->rows.end(death) != rows::RowTable::kNone; });
  };
  // End existing rows first, so that a label may end and start again in one step.
  std::vector<rows::Death> open;
  for (const rows::Death& death : ended) {
    if (!end_row(death)) open.push_back(death);
  }
  std::vector<rows::Row> rows(added.size());
  std::transform(added.begin(), added.end(), rows.begin(), [](const FlatEntry& entry) { return entry.row; });
  const auto order = rows::sorted_order(rows);
  for (std::size_t begin = 0; begin < order.size(); begin += kSegmentRowsMax) {
    const auto part = std::span(order).subspan(begin, std::min(kSegmentRowsMax, order.size() - begin));
    std::size_t vector_count = 0;
    for (const std::uint32_t i : part) vector_count += added[i].vectors.size();
    SegmentBuilder builder(space_.dimension, space_.stride, part.size(), vector_count);
    for (const std::uint32_t i : part) {
      builder.add_row(added[i].row);
      FOOTNOTE_ASSERT(!added[i].vectors.empty());
      for (const auto vector : added[i].vectors) {
        FOOTNOTE_ASSERT(vector.size() == space_.dimension);
        builder.add_vector(vector);
      }
    }
    rows::append_tiered(segments_, builder.build(), kSegmentRowsMax,
                        [this](const Segment& older, const Segment& newer) { return merge(older, newer); });
  }
  for (const rows::Death& death : open) end_row(death);
  move_graph();
}

void FlatIndex::forget(std::int64_t died_until) {
  std::vector<SegmentPtr> kept;
  for (const auto& segment : segments_) {
    if (!segment->rows.any_dead_by(died_until)) {
      kept.push_back(segment);
      continue;
    }
    std::vector<std::uint32_t> living;
    for (std::uint32_t i = 0; i < segment->rows.size(); ++i) {
      if (segment->rows.died(i) > died_until) living.push_back(i);
    }
    if (auto rest = keep_rows(*segment, space_.dimension, living, *damaged_)) kept.push_back(std::move(rest));
  }
  segments_ = std::move(kept);
  move_graph();
}

void FlatIndex::move_graph() {
  if (graph_) graph_ = SegmentGraph::moved(graph_, segments_);
}

std::span<const SegmentPtr> FlatIndex::settled() const {
  // append_tiered() merges the last two segments when the older has less than twice the rows of the newer and both fit in one. A segment of
  // this size therefore never merges again, nor does any segment before it.
  constexpr std::size_t kSettledRows = kSegmentRowsMax / 3 * 2 + 2;
  const auto last = std::ranges::find_if(segments_.rbegin(), segments_.rend(),
                                         [](const SegmentPtr& segment) { return segment->rows.size() >= kSettledRows; });
  return std::span(segments_).first(static_cast<std::size_t>(segments_.rend() - last));
}

std::size_t FlatIndex::settled_vectors() const {
  std::size_t count = 0;
  for (const SegmentPtr& segment : settled()) count += segment->vector_count();
  return count;
}

bool FlatIndex::wants_graph(std::size_t vectors_min) const {
  const std::size_t vectors = settled_vectors();
  if (vectors < std::max<std::size_t>(vectors_min, 1)) return false;
  if (!graph_) return true;
  const std::size_t gone = graph_->size() - graph_->covered();
  const std::size_t besides = vectors > graph_->covered() ? vectors - graph_->covered() : 0;
  return std::max(gone, besides) > graph_->size() / kGraphStaleShare;
}

SegmentGraphPtr FlatIndex::build_graph(const std::function<bool()>& keep_on) const {
  const Nearness nearness(space_.metric, Codes::stride_for(space_.dimension), *space_.kernels);
  return SegmentGraph::build(settled(), nearness, space_.metric, keep_on);
}

void FlatIndex::use_graph(const SegmentGraphPtr& graph) { graph_ = graph ? SegmentGraph::moved(graph, segments_) : nullptr; }

std::vector<rows::ScoredLabel> FlatIndex::search(const FlatQuery& query, ScanReport* report) const {
  FOOTNOTE_ASSERT(query.vector.size() == space_.dimension);
  ScanReport unused;
  return scan(space_, segments_, graph_.get(), query, *damaged_, report != nullptr ? *report : unused);
}

std::vector<std::optional<float>> FlatIndex::score(std::span<const float> vector, std::int64_t generation,
                                                   std::span<const std::int64_t> labels, HelperThreads* helpers) const {
  const ExactScores exact(space_, vector, *damaged_);
  std::vector<std::optional<float>> out(labels.size());
  const auto score_some = [&](std::size_t begin, std::size_t end) {
    struct Place {
      const Segment* segment = nullptr;
      std::size_t row = 0;
    };
    // Rows are scattered, so prefetch them.
    std::vector<Place> places(end - begin);
    for (std::size_t l = begin; l < end; ++l) {
      for (const auto& segment : segments_) {
        const std::size_t i = segment->rows.find(labels[l], generation);
        if (i == rows::RowTable::kNone) continue;
        places[l - begin] = {segment.get(), i};
        prefetch(segment->raw.at(segment->first[i]), space_.stride * sizeof(float));
        break;
      }
    }
    for (std::size_t l = begin; l < end; ++l) {
      if (const auto [segment, row] = places[l - begin]; segment != nullptr) out[l] = exact.of_row(*segment, row);
    }
  };
  constexpr std::size_t kWorthSharing = 32;
  const std::size_t half = labels.size() / 2;
  run_both(labels.size() < kWorthSharing ? nullptr : helpers, [&] { score_some(0, half); }, [&] { score_some(half, labels.size()); });
  return out;
}

Result<void> FlatIndex::save(ByteSink& sink) const {
  FOOTNOTE_CHECK(sink.put(static_cast<std::uint32_t>(space_.metric)));
  FOOTNOTE_CHECK(sink.put(static_cast<std::uint32_t>(space_.dimension)));
  FOOTNOTE_CHECK(sink.put(static_cast<std::uint32_t>(segments_.size())));
  for (const auto& segment : segments_) {
    FOOTNOTE_CHECK(rows::write_rows(sink, segment->rows));
    std::vector<std::int64_t> died(segment->rows.size());
    for (std::size_t i = 0; i < died.size(); ++i) died[i] = segment->rows.died(i);
    FOOTNOTE_CHECK(sink.put_all<std::int64_t>(died));
    FOOTNOTE_CHECK(sink.put_all<std::uint32_t>(segment->first));
    FOOTNOTE_CHECK(segment->codes.save(sink));
    FOOTNOTE_CHECK(sink.put_all<std::uint32_t>(segment->raw.sums()));
  }
  return {};
}

Result<void> FlatIndex::save_raw(ByteSink& sink) const {
  for (const auto& segment : segments_) {
    for (std::size_t v = 0; v < segment->vector_count(); ++v) {
      FOOTNOTE_CHECK(sink.put_all(std::span<const float>(segment->raw.at(v), space_.stride)));
    }
  }
  for (const auto& segment : segments_) FOOTNOTE_CHECK(segment->codes.save_raw(sink));
  return {};
}

std::uint64_t FlatIndex::raw_bytes() const {
  std::uint64_t bytes = 0;
  for (const auto& segment : segments_) bytes += segment->vector_count() * space_.stride * sizeof(float) + segment->codes.raw_bytes();
  return bytes;
}

std::uint64_t FlatIndex::count_damaged() const {
  std::uint64_t damaged = 0;
  for (const auto& segment : segments_) {
    for (std::size_t v = 0; v < segment->vector_count(); ++v) damaged += segment->raw.check(v) && segment->codes.is_sound(v) ? 0 : 1;
  }
  return damaged;
}

std::uint64_t FlatIndex::heap_bytes() const {
  std::uint64_t bytes = 0;
  for (const auto& segment : segments_) bytes += segment->raw.heap_bytes();
  return bytes;
}

void FlatIndex::seal() {
  for (auto& segment : segments_) {
    if (!segment->raw.is_mapped()) segment = std::make_shared<Segment>(segment->body, segment->raw.sealed());
  }
}

void FlatIndex::attach(const std::shared_ptr<const float>& raw, std::uint64_t code_bytes_held) {
  const float* next = raw.get();
  for (auto& segment : segments_) {
    RawVectors mapped(std::shared_ptr<const float>(raw, next), space_.stride, segment->raw.sums());
    next += segment->vector_count() * space_.stride;
    segment = std::make_shared<Segment>(segment->body, std::move(mapped));
  }
  attach_codes(std::shared_ptr<const std::int8_t>(raw, reinterpret_cast<const std::int8_t*>(next)), code_bytes_held);
}

/// Codes that are already in memory or in an older file stay where they are: readers may be using them.
void FlatIndex::attach_codes(std::shared_ptr<const std::int8_t> codes, std::uint64_t bytes_held) {
  if (std::ranges::none_of(segments_, [](const SegmentPtr& segment) { return segment->codes.wants_raw(); })) return;
  std::uint64_t bytes = 0;
  for (const auto& segment : segments_) bytes += segment->codes.raw_bytes();
  if (bytes <= bytes_held) {
    // In one allocation, so that huge pages can back it.
    const auto held = std::make_shared<AlignedArray<std::int8_t>>(static_cast<std::size_t>(bytes));
    std::memcpy(held->data(), codes.get(), held->size());
    codes = std::shared_ptr<const std::int8_t>(held, held->data());
  }
  const std::int8_t* next = codes.get();
  for (const auto& segment : segments_) {
    Codes& wanting = segment->body->codes;
    if (wanting.wants_raw()) wanting.attach(std::shared_ptr<const std::int8_t>(codes, next));
    next += wanting.raw_bytes();
  }
}

Result<SegmentPtr> FlatIndex::load_segment(ByteSource& source, const rows::RowLimits& limits) const {
  FOOTNOTE_TRY(auto rows, rows::read_rows(source, limits));
  FOOTNOTE_TRY(const auto died, source.take_all<std::int64_t>(rows.size()));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const bool can_be = died[i] == rows::kAlive || (died[i] > rows[i].born && died[i] <= limits.born_last);
    if (!can_be) return fail(ErrorCode::kCorrupted, "row {} of a segment has an invalid death", i);
    rows[i].died = died[i];
  }
  FOOTNOTE_TRY(auto first, source.take_all<std::uint32_t>(rows.size() + 1));
  // Each row has at least one vector.
  const bool ascending = std::ranges::adjacent_find(first, std::greater_equal{}) == first.end();
  if (first.front() != 0 || !ascending) return fail(ErrorCode::kCorrupted, "a segment's vectors are out of order");
  FOOTNOTE_TRY(Codes codes, Codes::load(source, space_.dimension, first.back()));
  FOOTNOTE_TRY(auto sums, source.take_all<std::uint32_t>(first.back()));
  return std::make_shared<Segment>(std::make_shared<SegmentBody>(rows, std::move(first), std::move(codes)),
                                   RawVectors(nullptr, space_.stride, std::move(sums)));
}

Result<FlatIndex> FlatIndex::load(ByteSource& source, rows::RowLimits limits, cpu::CpuLevel level) {
  limits.rows_max = kSegmentRowsMax;
  FOOTNOTE_TRY(const auto metric, source.take<std::uint32_t>());
  if (metric > static_cast<std::uint32_t>(Metric::kManhattan)) return fail(ErrorCode::kCorrupted, "metric {} is unknown", metric);
  FOOTNOTE_TRY(const auto dimension, source.take<std::uint32_t>());
  if (dimension == 0 || dimension > kDimensionMax) return fail(ErrorCode::kCorrupted, "vectors of {} numbers", dimension);
  FlatIndex index(dimension, static_cast<Metric>(metric), level);
  FOOTNOTE_TRY(const auto segments, source.take<std::uint32_t>());
  for (std::uint32_t i = 0; i < segments; ++i) {
    FOOTNOTE_TRY(auto segment, index.load_segment(source, limits));
    index.segments_.push_back(std::move(segment));
  }
  return index;
}

bool FlatIndex::contains(std::int64_t label, std::int64_t generation) const {
  return std::any_of(segments_.begin(), segments_.end(),
                     [&](const SegmentPtr& segment) { return segment->rows.find(label, generation) != rows::RowTable::kNone; });
}

void FlatIndex::mark_groups(rows::GroupMask& used) const {
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
