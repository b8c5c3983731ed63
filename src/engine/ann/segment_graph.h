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

/// A graph and the current positions of its nodes' vectors. Segments are added, merged and shrunk after the graph was built: moved() maps
/// it onto the current ones, deleted rows stay as holes, and later rows are not in it. Immutable and thread-safe.
class SegmentGraph {
 public:
  /// Identifies a node's vector independently of the segment that holds it.
  struct NodeName {
    std::int64_t label = 0;
    std::int64_t born = 0;
    std::uint32_t ordinal = 0;  ///< Index among the vectors of its row.
  };

  /// Builds a graph over all vectors of these segments. Null when `keep_on` returns false, and where a walk would miss the nearest vectors:
  /// for Manhattan distance, and for dot products of vectors whose lengths differ much.
  static std::shared_ptr<const SegmentGraph> build(std::span<const SegmentPtr> segments, const Nearness& nearness, Metric metric,
                                                   const std::function<bool()>& keep_on);
  /// names := label:i64[nodes] born:i64[nodes] ordinal:u32[nodes]
  /// file  := graph names
  Result<void> save(ByteSink& sink) const;
  static Result<std::shared_ptr<const SegmentGraph>> load(ByteSource& source, std::span<const SegmentPtr> segments);

  /// The same graph over the current segments; the graph itself when all of its segments still exist.
  static std::shared_ptr<const SegmentGraph> moved(const std::shared_ptr<const SegmentGraph>& graph, std::span<const SegmentPtr> segments);

  /// True when every vector of the segment is in the graph.
  bool covers(const SegmentBody* body) const;
  /// The number of vectors in covered segments.
  std::size_t covered() const { return covered_; }
  std::size_t size() const { return graph_->size(); }
  std::uint64_t bytes() const { return graph_->bytes() + points_.size() * (sizeof(GraphPoint) + sizeof(Place)); }

  struct Place {
    std::uint32_t body = kGone;  ///< Index into bodies().
    std::uint32_t vector = 0;
  };
  static constexpr std::uint32_t kGone = 0xFFFFFFFF;
  Place place(std::uint32_t node) const { return places_[node]; }
  /// Null unless the graph covers the whole segment.
  const SegmentBody* body(std::uint32_t index) const { return bodies_[index].whole ? bodies_[index].body.get() : nullptr; }
  std::size_t body_count() const { return bodies_.size(); }

  const Graph& graph() const { return *graph_; }
  std::span<const GraphPoint> points() const { return points_; }

 private:
  struct Body {
    std::shared_ptr<const SegmentBody> body;  // Shared: points_ refers to its codes.
    std::size_t nodes = 0;
    bool whole = false;
  };

  SegmentGraph() = default;
  std::uint32_t index_of(const std::shared_ptr<const SegmentBody>& body);
  void put(std::uint32_t node, std::uint32_t body, std::uint32_t vector);
  void find_and_put(std::uint32_t node, const NodeName& name, std::span<const SegmentPtr> segments);
  void finish();
  NodeName name_of(std::uint32_t node) const;

  std::shared_ptr<const Graph> graph_;  // Shared: moving the graph copies no links.
  std::vector<GraphPoint> points_;
  std::vector<Place> places_;
  std::vector<Body> bodies_;
  std::vector<const SegmentBody*> whole_;  // The covered segments, sorted by address.
  std::size_t covered_ = 0;
};

using SegmentGraphPtr = std::shared_ptr<const SegmentGraph>;

}  // namespace footnote::ann
