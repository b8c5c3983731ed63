#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/ann/scan.h"
#include "engine/rows/row_stream.h"

namespace footnote::ann {

/// A row on its way in: one or several vectors under one label, of which the best counts.
struct FlatEntry {
  rows::Row row;
  std::vector<std::span<const float>> vectors;
};

/// Search over vectors whose short forms lie together in memory; their full numbers lie there too, or in a file. Filters are
/// exact and only what passes them is read; see ScanPlan for how.
///
/// Copies are cheap and share their rows. A const index is safe from any thread. To change one while others read it,
/// change a copy and publish that: readers of the older copy, at generations before the change, see nothing of it.
/// Only the newest copy may be changed, by one thread at a time.
class FlatIndex {
 public:
  /// Rows of a segment that has stopped growing. 16 Ki rows of 384 floats are 24 MiB: what one merge copies at most.
  static constexpr std::size_t kSegmentRowsMax = 16'384;
  static constexpr std::size_t kDimensionMax = 1 << 16;
  /// Codes up to so many bytes are copied into memory, where large pages make them faster to reach; past it they stay in the file.
  static constexpr std::uint64_t kCodeBytesHeld = std::uint64_t{64} << 20;

  /// REQUIRES: 0 < dimension <= kDimensionMax; the level is usable here.
  explicit FlatIndex(std::size_t dimension, Metric metric = Metric::kDot, cpu::CpuLevel level = cpu::best_cpu_level());

  /// Ends and adds rows. A death goes to the living row of its label that was born before it, new or old; one that
  /// finds none is passed over.
  /// REQUIRES: every vector has dimension() numbers; each entry has at least one; births and deaths lie past the
  /// generations that readers of older copies ask for.
  void apply(std::span<const FlatEntry> added, std::span<const rows::Death> ended);

  /// Drops the rows that died at or before `died_until`.
  void forget(std::int64_t died_until);

  /// Best first, equal scores by label. REQUIRES: the query has dimension() numbers.
  std::vector<rows::ScoredLabel> search(const FlatQuery& query, ScanReport* report = nullptr) const;

  /// The best score of `vector` with each label's vectors, in their order; nothing for a label that is not there. `helpers` does half.
  std::vector<std::optional<float>> score(std::span<const float> vector, std::int64_t generation, std::span<const std::int64_t> labels,
                                          HelperThreads* helpers = nullptr) const;

  /// index   := metric:u32 dimension:u32 segments:u32 segment*
  /// segment := rows died:i64[rows] first:u32[rows + 1] codes sum:u32[first.back()]
  /// The full numbers and the codes are not in it: save_raw() writes them, and each is held to its sum.
  Result<void> save(ByteSink& sink) const;
  /// raw := value:f32[stride] for each vector, in order, then code:i8[code stride] for each.
  Result<void> save_raw(ByteSink& sink) const;
  std::uint64_t raw_bytes() const;
  /// Sums the full numbers in memory, so that what follows need not do it again and again.
  void seal();
  /// What save() wrote; attach() must follow. kCorrupted: something else.
  static Result<FlatIndex> load(ByteSource& source, rows::RowLimits limits, cpu::CpuLevel level = cpu::best_cpu_level());
  /// Gives an index that was loaded, or saved just now, the place where save_raw()'s bytes lie; of the full numbers nothing stays in
  /// memory. The codes of an index that was loaded are read from there too, unless they are few.
  /// REQUIRES: raw_bytes() of them, 64-byte aligned, for as long as the pointer lives.
  void attach(const std::shared_ptr<const float>& raw, std::uint64_t code_bytes_held = kCodeBytesHeld);

  /// Vectors that were found to differ from what was saved, each time that one was met; those count by their codes.
  std::uint64_t damaged_count() const { return damaged_->load(std::memory_order_relaxed); }
  /// Looks at every full vector: how many differ from what was saved.
  std::uint64_t count_damaged() const;
  /// Bytes of full numbers that are held in memory.
  std::uint64_t heap_bytes() const;

  /// Builds a graph of what will not be merged any more. Takes minutes for a million vectors; null when `keep_on` said no, when that
  /// is nothing, and where graphs are no good (see SegmentGraph::build).
  SegmentGraphPtr build_graph(const std::function<bool()>& keep_on) const;
  /// Searches walk it from now on where that costs less. It may have been built of an older copy.
  void use_graph(const SegmentGraphPtr& graph);
  /// What load_graph() reads. REQUIRES: there is one.
  Result<void> save_graph(ByteSink& sink) const { return graph_->save(sink); }
  Result<SegmentGraphPtr> load_graph(ByteSource& source) const { return SegmentGraph::load(source, segments_); }
  const SegmentGraphPtr& graph() const { return graph_; }
  /// Vectors that build_graph() would take up.
  std::size_t settled_vectors() const;
  /// True when there are `vectors_min` to take up, and there is no graph or one in kGraphStaleShare of its nodes, or as many vectors
  /// besides, came or went since it was built.
  bool wants_graph(std::size_t vectors_min) const;
  static constexpr std::size_t kGraphStaleShare = 5;

  bool contains(std::int64_t label, std::int64_t generation) const;
  /// Calls `visit(Row)` for the rows that are there in that generation.
  template <class Visit>
  void for_each_alive(std::int64_t generation, const Visit& visit) const {
    for (const auto& segment : segments_) segment->rows.for_each_alive(generation, visit);
  }
  /// Sets the bytes of the groups that some row belongs to, dead ones too. REQUIRES: a byte for each.
  void mark_groups(rows::GroupMask& used) const;

  std::size_t dimension() const { return space_.dimension; }
  Metric metric() const { return space_.metric; }
  std::size_t segment_count() const { return segments_.size(); }
  /// Rows held, those that died included.
  std::size_t row_count() const;

 private:
  std::span<const SegmentPtr> settled() const;
  void move_graph();
  SegmentPtr merge(const Segment& older, const Segment& newer) const;
  void attach_codes(std::shared_ptr<const std::int8_t> codes, std::uint64_t bytes_held);
  Result<SegmentPtr> load_segment(ByteSource& source, const rows::RowLimits& limits) const;

  VectorSpace space_;
  std::vector<SegmentPtr> segments_;
  SegmentGraphPtr graph_;                 // Null: none.
  std::shared_ptr<DamageCount> damaged_;  // Shared by all copies.
};

}  // namespace footnote::ann
