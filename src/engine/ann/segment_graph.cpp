#include "engine/ann/segment_graph.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace footnote::ann {
namespace {

/// How much lengths may differ from the mean before dot products stop indicating nearness.
constexpr float kLengthTolerance = 0.05F;

bool suits(std::span<const SegmentPtr> segments, Metric metric) {
  if (metric != Metric::kDot) return metric == Metric::kEuclid;
  float least = std::numeric_limits<float>::max();
  float most = 0;
  for (const SegmentPtr& segment : segments) {
    const auto norms = std::span(segment->codes.norms(), segment->vector_count());
    const auto [low, high] = std::ranges::minmax(norms);
    least = std::min(least, low);
    most = std::max(most, high);
  }
  return most - least <= kLengthTolerance * most;
}

}  // namespace

std::uint32_t SegmentGraph::index_of(const std::shared_ptr<const SegmentBody>& body) {
  const auto found = std::ranges::find(bodies_, body, &Body::body);
  if (found != bodies_.end()) return static_cast<std::uint32_t>(found - bodies_.begin());
  bodies_.push_back({.body = body});
  return static_cast<std::uint32_t>(bodies_.size() - 1);
}

void SegmentGraph::put(std::uint32_t node, std::uint32_t body, std::uint32_t vector) {
  const Codes& codes = bodies_[body].body->codes;
  const CodeFacts facts = codes.facts(vector);
  places_[node] = {body, vector};
  points_[node] = {codes.codes(vector), facts.scale, facts.norm};
  ++bodies_[body].nodes;
}

void SegmentGraph::finish() {
  covered_ = 0;
  for (Body& body : bodies_) {
    body.whole = body.nodes == body.body->codes.size();
    if (!body.whole) continue;
    covered_ += body.nodes;
    whole_.push_back(body.body.get());
  }
  std::ranges::sort(whole_, std::less<>{});
}

std::shared_ptr<const SegmentGraph> SegmentGraph::build(std::span<const SegmentPtr> segments, const Nearness& nearness, Metric metric,
                                                        const std::function<bool()>& keep_on) {
  std::size_t vectors = 0;
  for (const SegmentPtr& segment : segments) vectors += segment->vector_count();
  if (vectors == 0 || vectors > Graph::kNodesMax || !suits(segments, metric)) return nullptr;
  SegmentGraph out;
  out.points_.resize(vectors);
  out.places_.resize(vectors);
  std::uint32_t node = 0;
  for (const SegmentPtr& segment : segments) {
    const std::uint32_t body = out.index_of(segment->body);
    for (std::uint32_t v = 0; v < segment->vector_count(); ++v) out.put(node++, body, v);
  }
  auto graph = Graph::build(out.points_, nearness, keep_on);
  if (!graph) return nullptr;
  out.graph_ = std::make_shared<const Graph>(*std::move(graph));
  out.finish();
  return std::make_shared<const SegmentGraph>(std::move(out));
}

SegmentGraph::NodeName SegmentGraph::name_of(std::uint32_t node) const {
  const SegmentBody& body = *bodies_[places_[node].body].body;
  const std::uint32_t vector = places_[node].vector;
  const auto row = static_cast<std::size_t>(std::ranges::upper_bound(body.first, vector) - body.first.begin()) - 1;
  const rows::Row facts = body.rows.row(row);
  return {facts.label, facts.born, vector - body.first[row]};
}

void SegmentGraph::find_and_put(std::uint32_t node, const NodeName& name, std::span<const SegmentPtr> segments) {
  for (const SegmentPtr& segment : segments) {
    const std::size_t row = segment->rows.find_born(name.label, name.born);
    if (row == rows::RowTable::kNone || segment->first[row] + name.ordinal >= segment->first[row + 1]) continue;
    put(node, index_of(segment->body), segment->first[row] + name.ordinal);
    return;
  }
  places_[node] = {};
  points_[node] = {};
}

std::shared_ptr<const SegmentGraph> SegmentGraph::moved(const std::shared_ptr<const SegmentGraph>& graph,
                                                        std::span<const SegmentPtr> segments) {
  std::set<const SegmentBody*> there;
  for (const SegmentPtr& segment : segments) there.insert(segment->body.get());
  const auto is_there = [&](const Body& body) { return there.contains(body.body.get()); };
  if (std::ranges::all_of(graph->bodies_, is_there)) return graph;

  SegmentGraph out;
  out.graph_ = graph->graph_;
  out.points_.resize(graph->size());
  out.places_.resize(graph->size());
  // Segments that stay keep their order; rows of the others can only be in segments that the graph did not include.
  std::vector<std::uint32_t> kept(graph->bodies_.size(), kGone);
  for (std::size_t b = 0; b < kept.size(); ++b) {
    if (is_there(graph->bodies_[b])) kept[b] = out.index_of(graph->bodies_[b].body);
  }
  for (std::uint32_t node = 0; node < graph->size(); ++node) {
    const auto [body, vector] = graph->places_[node];
    if (body == kGone) continue;
    if (kept[body] != kGone) {
      out.put(node, kept[body], vector);
    } else {
      out.find_and_put(node, graph->name_of(node), segments);
    }
  }
  out.finish();
  return std::make_shared<const SegmentGraph>(std::move(out));
}

bool SegmentGraph::covers(const SegmentBody* body) const { return std::ranges::binary_search(whole_, body, std::less<>{}); }

Result<void> SegmentGraph::save(ByteSink& sink) const {
  FOOTNOTE_CHECK(graph_->save(sink));
  std::vector<std::int64_t> labels(size());
  std::vector<std::int64_t> born(size());
  std::vector<std::uint32_t> ordinals(size(), kGone);
  for (std::uint32_t node = 0; node < size(); ++node) {
    if (places_[node].body == kGone) continue;
    const NodeName name = name_of(node);
    labels[node] = name.label;
    born[node] = name.born;
    ordinals[node] = name.ordinal;
  }
  FOOTNOTE_CHECK(sink.put_all<std::int64_t>(labels));
  FOOTNOTE_CHECK(sink.put_all<std::int64_t>(born));
  return sink.put_all<std::uint32_t>(ordinals);
}

Result<std::shared_ptr<const SegmentGraph>> SegmentGraph::load(ByteSource& source, std::span<const SegmentPtr> segments) {
  FOOTNOTE_TRY(Graph graph, Graph::load(source));
  FOOTNOTE_TRY(const auto labels, source.take_all<std::int64_t>(graph.size()));
  FOOTNOTE_TRY(const auto born, source.take_all<std::int64_t>(graph.size()));
  FOOTNOTE_TRY(const auto ordinals, source.take_all<std::uint32_t>(graph.size()));
  SegmentGraph out;
  out.points_.resize(graph.size());
  out.places_.resize(graph.size());
  for (std::uint32_t node = 0; node < graph.size(); ++node) {
    if (ordinals[node] != kGone) out.find_and_put(node, {labels[node], born[node], ordinals[node]}, segments);
  }
  out.graph_ = std::make_shared<const Graph>(std::move(graph));
  out.finish();
  return std::make_shared<const SegmentGraph>(std::move(out));
}

}  // namespace footnote::ann
