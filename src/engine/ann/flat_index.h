#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/ann/scan.h"
#include "engine/rows/row_stream.h"

namespace footnote::ann {

/// A row to add: one or several vectors under one label; the best of them counts.
struct FlatEntry {
  rows::Row row;
  std::vector<std::span<const float>> vectors;
};

/// Vector search by scanning. Quantised vectors are held contiguously in memory; full vectors are in memory or in a file. Filters are
/// exact, and only rows that pass them are read; see ScanPlan.
///
/// Copies are cheap and share their rows. A const index is thread-safe. To change an index while others read it, change a copy and publish
/// that: readers of the older copy, at generations before the change, do not see it. Only the newest copy may be changed, by one thread at
/// a time.
class FlatIndex {
 public:
  /// A segment of this many rows stops growing. 16 Ki rows of 384 floats are 24 MiB: the most that one merge copies.
  static constexpr std::size_t kSegmentRowsMax = 16'384;
  static constexpr std::size_t kDimensionMax = 1 << 16;
  /// Codes of up to this many bytes are copied into memory, where huge pages speed them up; larger ones stay in the file.
  static constexpr std::uint64_t kCodeBytesHeld = std::uint64_t{64} << 20;

  /// REQUIRES: 0 < dimension <= kDimensionMax; the CPU supports `level`.
  explicit FlatIndex(std::size_t dimension, Metric metric = Metric::kDot, cpu::CpuLevel level = cpu::best_cpu_level());

  /// Adds rows and ends others. A death ends the live row of its label that was born before it, whether old or just added; without such a
  /// row it is ignored.
  /// REQUIRES: every vector has dimension() values; each entry has at least one; births and deaths are later than the generations that
  /// readers of older copies use.
  void apply(std::span<const FlatEntry> added, std::span<const rows::Death> ended);

  /// Drops the rows that died in generation `died_until` or earlier.
  void forget(std::int64_t died_until);

  /// Best first; ties are ordered by label. REQUIRES: the query has dimension() values.
  std::vector<rows::ScoredLabel> search(const FlatQuery& query, ScanReport* report = nullptr) const;

  /// The best score of each label's vectors against `vector`, in the order of `labels`; nullopt for an unknown label. `helpers` compute
  /// half.
  std::vector<std::optional<float>> score(std::span<const float> vector, std::int64_t generation, std::span<const std::int64_t> labels,
                                          HelperThreads* helpers = nullptr) const;

  /// index   := metric:u32 dimension:u32 segments:u32 segment*
  /// segment := rows died:i64[rows] first:u32[rows + 1] codes sum:u32[first.back()]
  /// Full vectors and codes are not included: save_raw() writes them, and checksums protect them.
  Result<void> save(ByteSink& sink) const;
  /// raw := value:f32[stride] for each vector, in order, then code:i8[code stride] for each.
  Result<void> save_raw(ByteSink& sink) const;
  std::uint64_t raw_bytes() const;
  /// Computes the checksums of full vectors in memory once, so that later saves need not.
  void seal();
  /// Reads what save() wrote; attach() must follow. kCorrupted: anything else.
  static Result<FlatIndex> load(ByteSource& source, rows::RowLimits limits, cpu::CpuLevel level = cpu::best_cpu_level());
  /// Points a loaded or just saved index at the bytes of save_raw(), and frees its full vectors in memory. A loaded index also reads its
  /// codes from there, unless they are few.
  /// REQUIRES: raw_bytes() bytes, 64-byte aligned, valid for the lifetime of the pointer.
  void attach(const std::shared_ptr<const float>& raw, std::uint64_t code_bytes_held = kCodeBytesHeld);

  /// How often a damaged full vector was met; its codes are used instead.
  std::uint64_t damaged_count() const { return damaged_->load(std::memory_order_relaxed); }
  /// Verifies every full vector; returns how many are damaged.
  std::uint64_t count_damaged() const;
  /// Bytes of full vectors held in memory.
  std::uint64_t heap_bytes() const;

  /// Builds a graph over the segments that will not be merged any more. Takes minutes for a million vectors. Null when `keep_on` returns
  /// false, when there are no such segments, and where graphs do not work (see SegmentGraph::build).
  SegmentGraphPtr build_graph(const std::function<bool()>& keep_on) const;
  /// From now on searches walk this graph where that is cheaper. It may have been built from an older copy.
  void use_graph(const SegmentGraphPtr& graph);
  /// Writes what load_graph() reads. REQUIRES: the index has a graph.
  Result<void> save_graph(ByteSink& sink) const { return graph_->save(sink); }
  Result<SegmentGraphPtr> load_graph(ByteSource& source) const { return SegmentGraph::load(source, segments_); }
  const SegmentGraphPtr& graph() const { return graph_; }
  /// The number of vectors that build_graph() would include.
  std::size_t settled_vectors() const;
  /// True when at least `vectors_min` vectors could be included, and there is no graph or it is stale: since it was built, 1 /
  /// kGraphStaleShare of its nodes have gone, or as many vectors were added.
  bool wants_graph(std::size_t vectors_min) const;
  static constexpr std::size_t kGraphStaleShare = 5;

  bool contains(std::int64_t label, std::int64_t generation) const;
  /// Calls `visit(Row)` for the rows that are alive in that generation.
  template <class Visit>
  void for_each_alive(std::int64_t generation, const Visit& visit) const {
    for (const auto& segment : segments_) segment->rows.for_each_alive(generation, visit);
  }
  /// Sets the bytes of all groups that a row belongs to, dead rows included. REQUIRES: a byte for each group.
  void mark_groups(rows::GroupMask& used) const;

  std::size_t dimension() const { return space_.dimension; }
  Metric metric() const { return space_.metric; }
  std::size_t segment_count() const { return segments_.size(); }
  /// Rows held, dead ones included.
  std::size_t row_count() const;

 private:
  std::span<const SegmentPtr> settled() const;
  void move_graph();
  SegmentPtr merge(const Segment& older, const Segment& newer) const;
  void attach_codes(std::shared_ptr<const std::int8_t> codes, std::uint64_t bytes_held);
  Result<SegmentPtr> load_segment(ByteSource& source, const rows::RowLimits& limits) const;

  VectorSpace space_;
  std::vector<SegmentPtr> segments_;
  SegmentGraphPtr graph_;                 // Null: no graph.
  std::shared_ptr<DamageCount> damaged_;  // Shared by all copies.
};

}  // namespace footnote::ann
