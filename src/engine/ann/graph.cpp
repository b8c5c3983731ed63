#include "engine/ann/graph.h"

#include <algorithm>
#include <limits>
#include <queue>

#include "base/assert.h"

namespace footnote::ann {
namespace {

constexpr std::size_t kCacheLine = 64;
constexpr float kLowest = -std::numeric_limits<float>::infinity();
/// Nodes added between two calls of keep_on().
constexpr std::uint32_t kNodesPerLook = 256;

bool is_nearer(const GraphHit& a, const GraphHit& b) { return a.nearness != b.nearness ? a.nearness > b.nearness : a.node < b.node; }
struct LastNearest {
  bool operator()(const GraphHit& a, const GraphHit& b) const { return is_nearer(b, a); }
};
struct LastFarthest {
  bool operator()(const GraphHit& a, const GraphHit& b) const { return is_nearer(a, b); }
};

/// The set of visited nodes. clear() takes time in proportion to the visited nodes only.
class VisitedNodes {
 public:
  explicit VisitedNodes(std::size_t nodes) : bits_((nodes + 63) / 64) {}

  /// True on the first visit.
  bool insert(std::uint32_t node) {
    std::uint64_t& word = bits_[node / 64];
    const std::uint64_t bit = std::uint64_t{1} << (node % 64);
    if ((word & bit) != 0) return false;
    word |= bit;
    touched_.push_back(node / 64);
    return true;
  }
  void clear() {
    for (const std::uint32_t word : touched_) bits_[word] = 0;
    touched_.clear();
  }

 private:
  std::vector<std::uint64_t> bits_;
  std::vector<std::uint32_t> touched_;
};

void prefetch(const GraphPoint& point, std::size_t bytes) {
  for (std::size_t at = 0; at < bytes; at += kCacheLine) __builtin_prefetch(point.codes + at);
}

/// A pseudo-random number that depends on the node alone (splitmix64).
std::uint64_t mixed(std::uint64_t node) {
  std::uint64_t x = node + 0x9E3779B97F4A7C15U;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9U;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBU;
  return x ^ (x >> 31);
}

/// One node in kUpperLinks reaches the next layer.
std::uint8_t level_of(std::uint32_t node) {
  static_assert(Graph::kUpperLinks == 16);
  const auto zeros = mixed(node) == 0 ? 64 : __builtin_ctzll(mixed(node));
  return static_cast<std::uint8_t>(std::min(zeros / 4, Graph::kLevelMax));
}

/// Walks one layer of a graph, starting at the nearest points so far.
class LayerWalk {
 public:
  LayerWalk(const Graph& graph, int layer, const GraphPoint& query, std::span<const GraphPoint> points, const Nearness& nearness)
      : graph_(graph), layer_(layer), query_(query), points_(points), nearness_(nearness) {}

  /// Greedy descent: moves to the nearest neighbour while that is nearer.
  GraphHit descend(GraphHit begin) {
    for (bool moved = true; moved;) {
      moved = false;
      gather(begin.node, nullptr);
      for (const std::uint32_t next : fresh_) {
        const GraphHit hit{nearness_(query_, points_[next]), next};
        if (is_nearer(hit, begin)) begin = hit, moved = true;
      }
    }
    return begin;
  }

  /// Best-first search. False when it gave up. `found` receives the nearest accepted nodes, at most `effort`.
  bool spread(GraphHit begin, const Graph::Walk& walk, VisitedNodes& seen, std::size_t& visited, std::vector<GraphHit>& found) {
    std::priority_queue<GraphHit, std::vector<GraphHit>, LastNearest> open;
    const auto accept = [&](const GraphHit& hit) {
      if (walk.accepts != nullptr && !(*walk.accepts)(hit.node)) return;
      found.push_back(hit);
      std::push_heap(found.begin(), found.end(), LastFarthest{});
      if (found.size() <= walk.effort) return;
      std::pop_heap(found.begin(), found.end(), LastFarthest{});
      found.pop_back();
    };
    const auto floor = [&] { return found.size() < walk.effort ? kLowest : found.front().nearness; };
    seen.insert(begin.node);
    open.push(begin);
    if (points_[begin.node].codes != nullptr) accept(begin);
    while (!open.empty() && open.top().nearness >= floor()) {
      const std::uint32_t from = open.top().node;
      open.pop();
      gather(from, &seen);
      visited += fresh_.size();
      if (visited > walk.visits_max) return false;
      for (const std::uint32_t next : fresh_) {
        const GraphHit hit{nearness_(query_, points_[next]), next};
        if (!(hit.nearness >= floor())) continue;
        open.push(hit);
        accept(hit);
      }
    }
    return true;
  }

 private:
  /// Collects the neighbours that exist and were not visited, and prefetches their codes.
  void gather(std::uint32_t node, VisitedNodes* seen) {
    fresh_.clear();
    for (const std::uint32_t next : graph_.links(node, layer_)) {
      if (next == Graph::kNone) break;
      if (seen != nullptr && !seen->insert(next)) continue;
      const GraphPoint& point = points_[next];
      if (point.codes == nullptr) continue;
      prefetch(point, nearness_.stride());
      fresh_.push_back(next);
    }
  }

  const Graph& graph_;
  const int layer_;
  const GraphPoint query_;
  const std::span<const GraphPoint> points_;
  const Nearness& nearness_;
  std::vector<std::uint32_t> fresh_;
};

}  // namespace

void Graph::make_room(std::vector<std::uint8_t> levels) {
  levels_ = std::move(levels);
  base_.assign(levels_.size() * kBaseLinks, kNone);
  upper_first_.resize(levels_.size());
  std::uint32_t lists = 0;
  for (std::size_t node = 0; node < levels_.size(); ++node) {
    upper_first_[node] = lists;
    lists += levels_[node];
  }
  upper_.assign(std::size_t{lists} * kUpperLinks, kNone);
}

std::span<const std::uint32_t> Graph::links(std::uint32_t node, int level) const {
  if (level == 0) return std::span(base_).subspan(std::size_t{node} * kBaseLinks, kBaseLinks);
  return std::span(upper_).subspan((std::size_t{upper_first_[node]} + static_cast<std::size_t>(level) - 1) * kUpperLinks, kUpperLinks);
}

std::span<std::uint32_t> Graph::links(std::uint32_t node, int level) {
  const auto constant = static_cast<const Graph&>(*this).links(node, level);
  return {const_cast<std::uint32_t*>(constant.data()), constant.size()};
}

/// Inserts nodes one by one.
class GraphBuilder {
 public:
  GraphBuilder(std::span<const GraphPoint> points, const Nearness& nearness) : points_(points), nearness_(nearness), seen_(points.size()) {
    std::vector<std::uint8_t> levels(points.size());
    for (std::uint32_t node = 0; node < levels.size(); ++node) levels[node] = level_of(node);
    graph_.make_room(std::move(levels));
  }

  void add(std::uint32_t node) {
    const int level = graph_.levels_[node];
    if (node == 0) return;  // The first entry point has nothing to link to.
    const int top = graph_.levels_[graph_.entry_];
    GraphHit nearest{nearness_(points_[node], points_[graph_.entry_]), graph_.entry_};
    for (int layer = top; layer > level; --layer) nearest = walk(node, layer).descend(nearest);
    for (int layer = std::min(top, level); layer >= 0; --layer) {
      seen_.clear();
      std::vector<GraphHit> found;
      std::size_t visited = 0;
      const Graph::Walk how{.effort = Graph::kBuildEffort, .visits_max = points_.size()};
      walk(node, layer).spread(nearest, how, seen_, visited, found);
      std::sort(found.begin(), found.end(), is_nearer);
      nearest = found.front();
      // Half of the links stay free for later nodes.
      link(node, layer, chosen(found, Graph::kUpperLinks));
    }
    if (level > top) graph_.entry_ = node;
  }

  Graph take() { return std::move(graph_); }

 private:
  LayerWalk walk(std::uint32_t node, int layer) const { return {graph_, layer, points_[node], points_, nearness_}; }

  /// From `sorted`, nearest first, picks those that are nearer to the node than to any earlier pick, so that links point in different
  /// directions.
  std::vector<GraphHit> chosen(std::span<const GraphHit> sorted, std::size_t max) const {
    std::vector<GraphHit> out;
    for (const GraphHit& hit : sorted) {
      if (out.size() == max) break;
      const bool covered =
          std::ranges::any_of(out, [&](const GraphHit& kept) { return nearness_(points_[kept.node], points_[hit.node]) > hit.nearness; });
      if (!covered) out.push_back(hit);
    }
    return out;
  }

  void link(std::uint32_t node, int layer, const std::vector<GraphHit>& neighbours) {
    const auto own = graph_.links(node, layer);
    for (std::size_t i = 0; i < neighbours.size(); ++i) own[i] = neighbours[i].node;
    for (const GraphHit& neighbour : neighbours) link_back(neighbour.node, layer, {neighbour.nearness, node});
  }

  void link_back(std::uint32_t node, int layer, const GraphHit& fresh) {
    const auto links = graph_.links(node, layer);
    const auto end = std::ranges::find(links, Graph::kNone);
    if (end != links.end()) {
      *end = fresh.node;
      return;
    }
    std::vector<GraphHit> candidates{fresh};
    for (const std::uint32_t other : links) candidates.push_back({nearness_(points_[node], points_[other]), other});
    std::sort(candidates.begin(), candidates.end(), is_nearer);
    const auto kept = chosen(candidates, links.size());
    std::ranges::fill(links, Graph::kNone);
    std::ranges::transform(kept, links.begin(), &GraphHit::node);
  }

  const std::span<const GraphPoint> points_;
  const Nearness& nearness_;
  Graph graph_;
  VisitedNodes seen_;
};

std::optional<Graph> Graph::build(std::span<const GraphPoint> points, const Nearness& nearness, const std::function<bool()>& keep_on) {
  FOOTNOTE_ASSERT(!points.empty() && points.size() <= kNodesMax);
  GraphBuilder builder(points, nearness);
  for (std::uint32_t node = 0; node < points.size(); ++node) {
    if (node % kNodesPerLook == 0 && !keep_on()) return std::nullopt;
    builder.add(node);
  }
  return builder.take();
}

std::optional<std::vector<GraphHit>> Graph::search(const GraphPoint& query, std::span<const GraphPoint> points, const Nearness& nearness,
                                                   const Walk& walk, std::size_t& visited) const {
  FOOTNOTE_ASSERT(points.size() == size());
  // A deleted entry point has no position: any of its neighbours is nearer.
  GraphHit nearest{points[entry_].codes == nullptr ? kLowest : nearness(query, points[entry_]), entry_};
  const auto layer_walk = [&](int layer) { return LayerWalk(*this, layer, query, points, nearness); };
  for (int layer = levels_[entry_]; layer > 0; --layer) nearest = layer_walk(layer).descend(nearest);
  VisitedNodes seen(size());
  std::vector<GraphHit> found;
  found.reserve(walk.effort + 1);
  if (!layer_walk(0).spread(nearest, walk, seen, visited, found)) return std::nullopt;
  return found;
}

Result<void> Graph::save(ByteSink& sink) const {
  FOOTNOTE_CHECK(sink.put(static_cast<std::uint32_t>(size())));
  FOOTNOTE_CHECK(sink.put(entry_));
  FOOTNOTE_CHECK(sink.put_all<std::uint8_t>(levels_));
  FOOTNOTE_CHECK(sink.put_all<std::uint32_t>(base_));
  return sink.put_all<std::uint32_t>(upper_);
}

Result<Graph> Graph::load(ByteSource& source) {
  Graph graph;
  FOOTNOTE_TRY(const auto nodes, source.take<std::uint32_t>());
  FOOTNOTE_TRY(graph.entry_, source.take<std::uint32_t>());
  if (nodes == 0 || nodes > kNodesMax || graph.entry_ >= nodes) return fail(ErrorCode::kCorrupted, "a graph of {} nodes is invalid", nodes);
  FOOTNOTE_CHECK(source.fits<std::uint32_t>(std::uint64_t{nodes} * kBaseLinks));
  FOOTNOTE_TRY(auto levels, source.take_all<std::uint8_t>(nodes));
  std::uint64_t lists = 0;
  for (const std::uint8_t level : levels) lists += level;
  FOOTNOTE_CHECK(source.fits<std::uint32_t>(std::uint64_t{nodes} * kBaseLinks + lists * kUpperLinks));
  graph.make_room(std::move(levels));
  FOOTNOTE_CHECK(source.read(std::as_writable_bytes(std::span(graph.base_))));
  FOOTNOTE_CHECK(source.read(std::as_writable_bytes(std::span(graph.upper_))));
  if (!graph.is_sound()) return fail(ErrorCode::kCorrupted, "a graph links to a missing node");
  return graph;
}

bool Graph::is_sound() const {
  const std::uint8_t top = levels_[entry_];
  for (std::uint32_t node = 0; node < size(); ++node) {
    if (levels_[node] > top) return false;
    for (int level = 0; level <= levels_[node]; ++level) {
      const bool sound = std::ranges::all_of(
          links(node, level), [&](std::uint32_t other) { return other == kNone || (other < size() && levels_[other] >= level); });
      if (!sound) return false;
    }
  }
  return true;
}

std::uint64_t Graph::bytes() const { return levels_.size() + (base_.size() + upper_first_.size() + upper_.size()) * sizeof(std::uint32_t); }

}  // namespace footnote::ann
