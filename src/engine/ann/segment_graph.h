#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/ann/graph.h"
#include "engine/ann/segment.h"

namespace footnote::ann {

/// A graph and where the vectors of its nodes lie now. Segments come, merge and shrink after it was built: it is moved onto what is
/// there then, rows that are gone stay as holes, and rows that came later are not in it. Immutable: safe from any thread.
class SegmentGraph {
 public:
  /// The name of a node's vector, which outlives the segment that it lies in.
  struct NodeName {
    std::int64_t label = 0;
    std::int64_t born = 0;
    std::uint32_t ordinal = 0;  ///< Among the vectors of its row.
  };

  /// Over all vectors of these segments. Null when `keep_on` said no, and where a walk would not find the nearest: for Manhattan
  /// distance, and for products of vectors whose lengths differ much.
  static std::shared_ptr<const SegmentGraph> build(std::span<const SegmentPtr> segments, const Nearness& nearness, Metric metric,
                                                   const std::function<bool()>& keep_on);
  /// names := label:i64[nodes] born:i64[nodes] ordinal:u32[nodes]
  /// file  := graph names
  Result<void> save(ByteSink& sink) const;
  static Result<std::shared_ptr<const SegmentGraph>> load(ByteSource& source, std::span<const SegmentPtr> segments);

  /// The same graph over the segments as they are now; itself when all that it lies in are still there.
  static std::shared_ptr<const SegmentGraph> moved(const std::shared_ptr<const SegmentGraph>& graph, std::span<const SegmentPtr> segments);

  /// True when the segment has no vector that the graph does not know.
  bool covers(const SegmentBody* body) const;
  /// Vectors in covered segments.
  std::size_t covered() const { return covered_; }
  std::size_t size() const { return graph_->size(); }
  std::uint64_t bytes() const { return graph_->bytes() + points_.size() * (sizeof(GraphPoint) + sizeof(Place)); }

  struct Place {
    std::uint32_t body = kGone;  ///< Index into bodies().
    std::uint32_t vector = 0;
  };
  static constexpr std::uint32_t kGone = 0xFFFFFFFF;
  Place place(std::uint32_t node) const { return places_[node]; }
  /// Null where it is not covered.
  const SegmentBody* body(std::uint32_t index) const { return bodies_[index].whole ? bodies_[index].body.get() : nullptr; }
  std::size_t body_count() const { return bodies_.size(); }

  const Graph& graph() const { return *graph_; }
  std::span<const GraphPoint> points() const { return points_; }

 private:
  struct Body {
    std::shared_ptr<const SegmentBody> body;  // Shared: points look into its codes.
    std::size_t nodes = 0;
    bool whole = false;
  };

  SegmentGraph() = default;
  std::uint32_t index_of(const std::shared_ptr<const SegmentBody>& body);
  void put(std::uint32_t node, std::uint32_t body, std::uint32_t vector);
  void find_and_put(std::uint32_t node, const NodeName& name, std::span<const SegmentPtr> segments);
  void finish();
  NodeName name_of(std::uint32_t node) const;

  std::shared_ptr<const Graph> graph_;  // Shared: so that moving copies no links.
  std::vector<GraphPoint> points_;
  std::vector<Place> places_;
  std::vector<Body> bodies_;
  std::vector<const SegmentBody*> whole_;  // Of those, the covered ones, by address.
  std::size_t covered_ = 0;
};

using SegmentGraphPtr = std::shared_ptr<const SegmentGraph>;

}  // namespace footnote::ann
