#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/byte_stream.h"
#include "engine/ann/kernels.h"
#include "engine/ann/scan_plan.h"

namespace footnote::ann {

/// A vector during a walk: its codes, and the factors that turn their dot products into a nearness.
struct GraphPoint {
  const std::int8_t* codes = nullptr;  ///< Null: the vector was deleted; walks skip it.
  float scale = 0;
  float norm = 0;
};

/// The nearness of two points, by their codes and therefore approximate; higher is nearer.
class Nearness {
 public:
  Nearness(Metric metric, std::size_t code_stride, const Kernels& kernels)
      : is_euclid_(metric == Metric::kEuclid), stride_(code_stride), dot_codes_(kernels.dot_codes) {}

  float operator()(const GraphPoint& a, const GraphPoint& b) const {
    std::int32_t product = 0;
    dot_codes_(a.codes, b.codes, stride_, 1, &product);
    const float dot = a.scale * b.scale * static_cast<float>(product);
    return is_euclid_ ? 2 * dot - a.norm * a.norm - b.norm * b.norm : dot;
  }
  std::size_t stride() const { return stride_; }

 private:
  bool is_euclid_;
  std::size_t stride_;
  decltype(Kernels::dot_codes) dot_codes_;
};

/// A node that a walk found. Several nodes may belong to one row.
struct GraphHit {
  float nearness = 0;
  std::uint32_t node = 0;
};

/// HNSW: links between neighbouring vectors, in layers that get sparser upwards. Knows vectors by number only. Immutable and thread-safe.
class Graph {
 public:
  /// The maximum number of links of a node, in the lowest layer and in each layer above.
  static constexpr std::size_t kBaseLinks = 32;
  static constexpr std::size_t kUpperLinks = 16;
  /// The number of nearest candidates from which a new node chooses its links.
  static constexpr std::size_t kBuildEffort = 96;
  static constexpr int kLevelMax = 12;
  static constexpr std::uint32_t kNodesMax = 1U << 30;

  /// Deterministic: equal points give equal graphs. Takes a minute or more for a million points. nullopt when `keep_on`, which is called
  /// often, returns false. REQUIRES: between one and kNodesMax points, none of them deleted.
  static std::optional<Graph> build(std::span<const GraphPoint> points, const Nearness& nearness, const std::function<bool()>& keep_on);

  struct Walk {
    std::size_t effort = 0;      ///< The number of nearest candidates kept during the walk: more improve recall and take longer.
    std::size_t visits_max = 0;  ///< Gives up after this many points.
    const std::function<bool(std::uint32_t)>* accepts =
        {};  ///< The nodes that may be returned; null: all. The walk still passes through the others.
  };
  /// The nearest nodes found, at most walk.effort, unordered; nullopt when the walk gave up. `visited` counts the points compared.
  /// REQUIRES: a point for each node.
  std::optional<std::vector<GraphHit>> search(const GraphPoint& query, std::span<const GraphPoint> points, const Nearness& nearness,
                                              const Walk& walk, std::size_t& visited) const;

  /// graph := nodes:u32 entry:u32 level:u8[nodes] base:u32[nodes * kBaseLinks] upper:u32[sum(level) * kUpperLinks]
  Result<void> save(ByteSink& sink) const;
  /// kCorrupted: not a valid graph.
  static Result<Graph> load(ByteSource& source);

  std::size_t size() const { return levels_.size(); }
  std::uint64_t bytes() const;
  /// The links of a node in one of its layers; they end at the first kNone.
  std::span<const std::uint32_t> links(std::uint32_t node, int level) const;
  static constexpr std::uint32_t kNone = 0xFFFFFFFF;

 private:
  friend class GraphBuilder;

  Graph() = default;
  void make_room(std::vector<std::uint8_t> levels);
  std::span<std::uint32_t> links(std::uint32_t node, int level);
  bool is_sound() const;

  std::uint32_t entry_ = 0;
  std::vector<std::uint8_t> levels_;
  std::vector<std::uint32_t> base_;         // kNone after a node's last link.
  std::vector<std::uint32_t> upper_first_;  // Index of a node's first list of links above the lowest layer.
  std::vector<std::uint32_t> upper_;
};

}  // namespace footnote::ann
