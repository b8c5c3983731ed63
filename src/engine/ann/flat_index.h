#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/ann/dot.h"
#include "engine/rows/row_stream.h"
#include "engine/rows/row_table.h"
#include "engine/rows/top_k.h"

namespace footnote::ann {

/// A row on its way in: one or several vectors under one label, of which the best counts.
struct FlatEntry {
  Row row;
  std::vector<std::span<const float>> vectors;
};

struct FlatQuery {
  std::span<const float> vector;
  std::int64_t generation = 0;
  std::size_t limit = 10;
  RowFilter filter = {};
};

/// Exact search by dot product over vectors that lie together in memory. Recall is 1 by construction, filters are
/// exact and only what passes them is read.
///
/// Copies are cheap and share their rows. A const index is safe from any thread. To change one while others read it,
/// change a copy and publish that: readers of the older copy, at generations before the change, see nothing of it.
/// Only the newest copy may be changed, by one thread at a time.
class FlatIndex {
 public:
  /// Rows of a segment that has stopped growing. 16 Ki rows of 384 floats are 24 MiB: what one merge copies at most.
  static constexpr std::size_t kSegmentRowsMax = 16'384;

  /// REQUIRES: dimension > 0; the level is usable here.
  explicit FlatIndex(std::size_t dimension, cpu::CpuLevel level = cpu::best_cpu_level());

  /// Ends and adds rows. A death goes to the living row of its label that was born before it, new or old; one that
  /// finds none is passed over.
  /// REQUIRES: every vector has dimension() numbers; each entry has at least one; births and deaths lie past the
  /// generations that readers of older copies ask for.
  void apply(std::span<const FlatEntry> added, std::span<const Death> ended);

  /// Drops the rows that died at or before `died_until`.
  void forget(std::int64_t died_until);

  /// Best first, equal scores by label. REQUIRES: the query has dimension() numbers.
  std::vector<ScoredLabel> search(const FlatQuery& query) const;

  /// The best dot product of `vector` with each label's vectors, in their order; 0 for a label that is not there.
  std::vector<float> score(std::span<const float> vector, std::int64_t generation, std::span<const std::int64_t> labels) const;

  /// index := dimension:u32 segments:u32 segment*
  /// segment := rows first:u32[rows + 1] value:f32[first.back() * stride]
  /// Deaths are not written: forget() those that count first.
  Result<void> save(ByteSink& sink) const;
  /// What save() wrote. kCorrupted: something else.
  static Result<FlatIndex> load(ByteSource& source, RowLimits limits, cpu::CpuLevel level = cpu::best_cpu_level());

  bool contains(std::int64_t label, std::int64_t generation) const;
  /// Sets the bytes of the groups that some row belongs to, dead ones too. REQUIRES: a byte for each.
  void mark_groups(GroupMask& used) const;

  std::size_t dimension() const { return dimension_; }
  std::size_t segment_count() const { return segments_.size(); }
  /// Rows held, those that died included.
  std::size_t row_count() const;

 private:
  struct Segment;
  class SegmentBuilder;
  using SegmentPtr = std::shared_ptr<Segment>;  // Shared: copies of the index hold the same segments.

  SegmentPtr merge(const Segment& older, const Segment& newer) const;
  Result<SegmentPtr> load_segment(ByteSource& source, const RowLimits& limits) const;
  void scan(const Segment& segment, const float* query, const FlatQuery& options, TopK& top) const;

  std::size_t dimension_;
  std::size_t stride_;  // The dimension, padded.
  DotKernel dot_;
  std::vector<SegmentPtr> segments_;
};

}  // namespace footnote::ann
