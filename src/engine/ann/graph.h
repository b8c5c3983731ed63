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

/// A vector as a walk sees it: its codes and what turns their products into a nearness.
struct GraphPoint {
  const std::int8_t* codes = nullptr;  ///< Null: the vector is gone, and walks pass it by.
  float scale = 0;
  float norm = 0;
};

/// How near two points are; higher is nearer. By codes, so only about.
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

/// What a walk found. Several may stand for one row.
struct GraphHit {
  float nearness = 0;
  std::uint32_t node = 0;
};

/// Links between neighbouring vectors, in layers, each sparser than the one below (HNSW). Knows vectors by number only. Immutable:
/// safe from any thread.
class Graph {
 public:
  /// Links of a node in the lowest layer, and in each above.
  static constexpr std::size_t kBaseLinks = 32;
  static constexpr std::size_t kUpperLinks = 16;
  /// How many near ones a new node chooses its links from.
  static constexpr std::size_t kBuildEffort = 96;
  static constexpr int kLevelMax = 12;
  static constexpr std::uint32_t kNodesMax = 1U << 30;

  /// The same points make the same graph. Takes a minute or more for a million; nothing when `keep_on` says no, which is asked often.
  /// REQUIRES: no point is gone; at least one and at most kNodesMax.
  static std::optional<Graph> build(std::span<const GraphPoint> points, const Nearness& nearness, const std::function<bool()>& keep_on);

  struct Walk {
    std::size_t effort = 0;                                  ///< How many near ones are kept on the way: more find better and take longer.
    std::size_t visits_max = 0;                              ///< Gives up after so many points.
    const std::function<bool(std::uint32_t)>* accepts = {};  ///< Which may be found; null: all. The walk goes through the others.
  };
  /// The nearest that were met, at most walk.effort, in no order; nothing when it gave up. `visited` counts points compared.
  /// REQUIRES: a point for each node.
  std::optional<std::vector<GraphHit>> search(const GraphPoint& query, std::span<const GraphPoint> points, const Nearness& nearness,
                                              const Walk& walk, std::size_t& visited) const;

  /// graph := nodes:u32 entry:u32 level:u8[nodes] base:u32[nodes * kBaseLinks] upper:u32[sum(level) * kUpperLinks]
  Result<void> save(ByteSink& sink) const;
  /// kCorrupted: something that no graph is.
  static Result<Graph> load(ByteSource& source);

  std::size_t size() const { return levels_.size(); }
  std::uint64_t bytes() const;
  /// What a node links to in a layer that it is in, up to the first kNone.
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
  std::vector<std::uint32_t> upper_first_;  // Where a node's links above the lowest layer begin, in lists.
  std::vector<std::uint32_t> upper_;
};

}  // namespace footnote::ann
