#include "engine/ann/graph.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <set>

#include "engine/ann/flat_index.h"

namespace footnote::ann {
namespace {

constexpr std::size_t kDimension = 24;
// Two segments just large enough not to merge any more, and a smaller one that no graph covers.
constexpr std::size_t kSegment = 10'930;
constexpr std::size_t kSettled = 2 * kSegment;
constexpr std::size_t kRows = kSettled + 500;

bool always() { return true; }

/// Unit vectors clustered around a few centres, like embeddings of texts.
std::vector<float> clustered(std::size_t count) {
  std::mt19937 random(7);
  std::normal_distribution<float> normal;
  std::vector<float> centres(40 * kDimension);
  for (float& value : centres) value = normal(random);
  std::vector<float> out;
  for (std::size_t i = 0; i < count; ++i) {
    const float* centre = centres.data() + random() % 40 * kDimension;
    std::vector<float> vector(kDimension);
    float square = 0;
    for (std::size_t k = 0; k < kDimension; ++k) {
      vector[k] = centre[k] + 0.7F * normal(random);
      square += vector[k] * vector[k];
    }
    for (const float value : vector) out.push_back(value / std::sqrt(square));
  }
  return out;
}

const std::vector<float>& vectors() {
  static const std::vector<float> all = clustered(kRows);
  return all;
}

std::span<const float> vector(std::size_t i) { return std::span(vectors()).subspan(i * kDimension, kDimension); }

/// Labels from 0 on, born in generation 1, every tenth in the same group.
FlatIndex filled(Metric metric = Metric::kDot, std::size_t rows = kRows) {
  FlatIndex index(kDimension, metric);
  for (std::size_t begin = 0; begin < rows; begin += kSegment) {
    std::vector<FlatEntry> entries;
    for (std::size_t i = begin; i < std::min(rows, begin + kSegment); ++i) {
      entries.push_back({{.label = static_cast<std::int64_t>(i), .group = static_cast<std::uint32_t>(i % 10), .born = 1}, {vector(i)}});
    }
    index.apply(entries, {});
  }
  return index;
}

/// Built once, because it takes a while.
const SegmentGraphPtr& graph_of_filled() {
  static const auto built = [] {
    auto index = std::make_unique<FlatIndex>(filled());
    auto graph = index->build_graph(always);
    return std::pair(std::move(index), std::move(graph));
  }();
  return built.second;
}

FlatIndex with_graph() {
  FlatIndex index = filled();
  // Its nodes are found by name in segments that it was not built from.
  index.use_graph(graph_of_filled());
  return index;
}

FlatQuery query_of(std::size_t i) { return {.vector = vector(i), .generation = 1, .limit = 10, .plan = ScanPlan::kGraph, .effort = 96}; }

std::set<std::int64_t> labels_of(const std::vector<rows::ScoredLabel>& hits) {
  std::set<std::int64_t> out;
  for (const rows::ScoredLabel& hit : hits) out.insert(hit.label);
  return out;
}

double recall(const FlatIndex& index, FlatQuery query) {
  std::size_t found = 0, all = 0;
  for (std::size_t i = 0; i < kRows; i += 331) {
    query.vector = vector(i);
    query.plan = ScanPlan::kCodes;
    const auto exact = index.search(query);
    query.plan = ScanPlan::kGraph;
    ScanReport report;
    const auto labels = labels_of(index.search(query, &report));
    EXPECT_EQ(report.plan, ScanPlan::kGraph);
    for (const rows::ScoredLabel& hit : exact) found += labels.count(hit.label), ++all;
  }
  return static_cast<double>(found) / static_cast<double>(all);
}

TEST(Graph, FindsTheNearestWithTheirFullScoresAndTheSameEachTime) {
  const FlatIndex index = with_graph();
  EXPECT_EQ(index.graph()->covered(), kSettled);
  EXPECT_GE(recall(index, query_of(0)), 0.98);
  for (const std::size_t i : {std::size_t{3}, kSettled - 1, kSettled + 1, kRows - 1}) {
    ScanReport report;
    const auto hits = index.search(query_of(i), &report);
    ASSERT_EQ(hits.size(), 10U);
    EXPECT_EQ(hits, index.search(query_of(i)));
    EXPECT_EQ(hits.front().label, static_cast<std::int64_t>(i)) << "rows that the graph does not know are found too";
    const auto scores = index.score(vector(i), 1, std::vector<std::int64_t>{hits[4].label});
    EXPECT_EQ(scores.front(), hits[4].score);
    EXPECT_LT(report.scanned, kRows / 4);
  }
}

TEST(Graph, TheSameVectorsMakeTheSameGraph) {
  constexpr std::size_t kFew = 2000;
  Codes codes(kDimension, kFew);
  std::vector<GraphPoint> points;
  for (std::size_t i = 0; i < kFew; ++i) {
    codes.set(i, vector(i));
    points.push_back({codes.codes(i), codes.facts(i).scale, codes.facts(i).norm});
  }
  const Nearness nearness(Metric::kDot, codes.stride(), kernels_of(cpu::best_cpu_level()));
  BufferSink first, second;
  ASSERT_TRUE(Graph::build(points, nearness, always)->save(first).has_value());
  ASSERT_TRUE(Graph::build(points, nearness, always)->save(second).has_value());
  EXPECT_EQ(first.bytes, second.bytes);
}

TEST(Graph, AFilterHidesRowsInsideTheWalk) {
  const FlatIndex index = with_graph();
  rows::GroupMask mask(10, 0);
  mask[3] = mask[4] = 1;
  FlatQuery query = query_of(0);
  query.filter.groups = &mask;
  EXPECT_GE(recall(index, query), 0.98);
  for (const rows::ScoredLabel& hit : index.search(query)) EXPECT_TRUE(hit.label % 10 == 3 || hit.label % 10 == 4);
}

TEST(Graph, RowsThatEndAreHiddenAtOnceAndOlderGenerationsStillSeeThem) {
  FlatIndex index = with_graph();
  const auto before = index.search(query_of(5));
  const FlatIndex older = index;
  std::vector<rows::Death> deaths;
  for (std::size_t i = 0; i < 5; ++i) deaths.push_back({before[i].label, 2});
  index.apply({}, deaths);
  FlatQuery query = query_of(5);
  query.generation = 2;
  for (const rows::ScoredLabel& hit : index.search(query)) {
    EXPECT_TRUE(std::none_of(deaths.begin(), deaths.end(), [&](const rows::Death& death) { return death.label == hit.label; }));
  }
  EXPECT_EQ(older.search(query_of(5)), before);
  EXPECT_EQ(index.search(query_of(5)), before);
}

TEST(Graph, FollowsItsRowsIntoTheSegmentsThatTakeTheirPlace) {
  FlatIndex index = with_graph();
  std::vector<rows::Death> deaths;
  for (std::int64_t label = 0; label < static_cast<std::int64_t>(kSettled); label += 9) deaths.push_back({label, 2});
  index.apply({}, deaths);
  index.forget(2);
  ASSERT_NE(index.graph(), nullptr);
  EXPECT_EQ(index.graph()->covered(), kSettled - deaths.size()) << "what is left of each segment is covered whole";
  FlatQuery query = query_of(0);
  query.generation = 2;
  EXPECT_GE(recall(index, query), 0.97);
}

TEST(Graph, ASegmentWithRowsThatItDoesNotKnowIsReadRowByRow) {
  FlatIndex index = with_graph();
  // The remainder of the last covered segment is small enough to merge with the next.
  std::vector<rows::Death> deaths;
  for (std::size_t i = kSegment; i < kRows; ++i) {
    if (i < kSettled - 100) deaths.push_back({static_cast<std::int64_t>(i), 2});
  }
  index.apply({}, deaths);
  index.forget(2);
  std::vector<FlatEntry> more;
  for (std::size_t i = 0; i < 400; ++i)
    more.push_back({{.label = static_cast<std::int64_t>(kRows + i), .group = 0, .born = 3}, {vector(i)}});
  index.apply(more, {});
  EXPECT_LE(index.graph()->covered(), kSettled);
  FlatQuery query = query_of(7);
  query.generation = 3;
  const auto hits = index.search(query);
  EXPECT_EQ(labels_of(hits).size(), hits.size()) << "no row is found twice";
  const auto labels = labels_of(hits);
  EXPECT_TRUE(labels.contains(7) && labels.contains(kRows + 7)) << "the old row and the new one with the same vector";
}

TEST(Graph, IsWantedFromASizeOnAndAgainWhenMuchHasChanged) {
  FlatIndex index = filled();
  EXPECT_FALSE(index.wants_graph(kSettled + 1));
  EXPECT_TRUE(index.wants_graph(kSettled));
  index.use_graph(graph_of_filled());
  EXPECT_FALSE(index.wants_graph(kSettled));
  std::vector<rows::Death> deaths;
  for (std::size_t i = 0; i < kSettled / FlatIndex::kGraphStaleShare; ++i) deaths.push_back({static_cast<std::int64_t>(i * 2), 2});
  index.apply({}, deaths);
  index.forget(2);
  EXPECT_FALSE(index.wants_graph(1)) << "one in five is gone: just not too many";
  index.apply({}, std::vector<rows::Death>{{1, 3}});
  index.forget(3);
  EXPECT_TRUE(index.wants_graph(1));
}

TEST(Graph, ABuildEndsWhenItIsTold) {
  const FlatIndex index = filled();
  int looks = 0;
  EXPECT_EQ(index.build_graph([&] { return ++looks < 4; }), nullptr);
  EXPECT_EQ(looks, 4);
}

TEST(Graph, IsNotMadeWhereItWouldFindTheWrongOnes) {
  EXPECT_EQ(filled(Metric::kManhattan).build_graph(always), nullptr);
  FlatIndex uneven(kDimension, Metric::kDot);
  const std::vector<float> longer(kDimension, 3.0F);
  std::vector<FlatEntry> entries;
  for (std::size_t i = 0; i < kSegment; ++i) {
    entries.push_back({{.label = static_cast<std::int64_t>(i), .born = 1}, {i == 9 ? std::span(longer) : vector(i)}});
  }
  uneven.apply(entries, {});
  EXPECT_EQ(uneven.build_graph(always), nullptr) << "products of vectors of unlike lengths";
  FlatIndex euclid = filled(Metric::kEuclid, kSegment);
  euclid.use_graph(euclid.build_graph(always));
  ASSERT_NE(euclid.graph(), nullptr);
  EXPECT_EQ(euclid.search(query_of(77)).front(), (rows::ScoredLabel{77, 0}));
}

TEST(Graph, RowsOfSeveralVectorsAreFoundByTheirBest) {
  FlatIndex index(kDimension, Metric::kDot);
  std::vector<FlatEntry> entries;
  for (std::size_t i = 0; i < kSegment; ++i) {
    entries.push_back({{.label = static_cast<std::int64_t>(i), .born = 1}, {vector(i), vector((i + 4000) % kSettled)}});
  }
  index.apply(entries, {});
  index.use_graph(index.build_graph(always));
  const auto hits = index.search(query_of(4100));
  ASSERT_EQ(hits.size(), 10U);
  EXPECT_EQ(labels_of(hits).size(), 10U);
  EXPECT_EQ(hits[0].label, 100);
  EXPECT_EQ(hits[1].label, 4100);
}

TEST(Graph, ComesBackFromBytesAndDamageIsFound) {
  const FlatIndex index = with_graph();
  BufferSink sink;
  ASSERT_TRUE(index.save_graph(sink).has_value());
  FlatIndex other = filled();
  BufferSource source(sink.bytes);
  auto loaded = other.load_graph(source);
  ASSERT_TRUE(loaded.has_value()) << loaded.error().message;
  EXPECT_EQ(source.remaining(), 0U);
  other.use_graph(*loaded);
  EXPECT_EQ(other.search(query_of(11)), index.search(query_of(11)));

  const auto refused = [&](std::size_t at, std::uint32_t value) {
    auto bytes = sink.bytes;
    std::memcpy(bytes.data() + at, &value, sizeof value);
    BufferSource damaged(bytes);
    const auto read = other.load_graph(damaged);
    return !read && read.error().code == ErrorCode::kCorrupted;
  };
  EXPECT_TRUE(refused(0, 0)) << "no nodes";
  EXPECT_TRUE(refused(0, Graph::kNodesMax + 1));
  EXPECT_TRUE(refused(4, kSettled)) << "an entry that is not there";
  EXPECT_TRUE(refused(8 + kSettled, kSettled)) << "a link past the last node";
  BufferSource cut(std::span(sink.bytes).first(sink.bytes.size() / 2));
  EXPECT_FALSE(other.load_graph(cut).has_value());
}

TEST(ChoosePlan, TakesTheGraphWhereItCostsLess) {
  ScanTask task{
      .metric = Metric::kDot, .visible = 1'000'000, .held = 1'000'000, .limit = 10, .in_graph = 1'000'000, .visible_in_graph = 1'000'000};
  EXPECT_EQ(choose_plan(task), ScanPlan::kGraph);
  task.limit = 50'000;
  EXPECT_NE(choose_plan(task), ScanPlan::kGraph) << "nearly all that a walk would meet are wanted";
  task.limit = 10;
  task.visible = task.visible_in_graph = 10'000;
  EXPECT_EQ(choose_plan(task), ScanPlan::kCodes) << "a narrow filter";
  task.visible = task.visible_in_graph = 1'000'000;
  task.in_graph = task.visible_in_graph = 0;
  EXPECT_EQ(choose_plan(task), ScanPlan::kSigns) << "no graph";
}

TEST(Graph, AWalkThatMeetsOnlyHiddenRowsGivesUpAndTheRowsAreRead) {
  // All rows that pass the filter are close together, far from the query.
  FlatIndex index = with_graph();
  FlatQuery query = query_of(5);
  std::vector<std::int64_t> labels;
  const auto far = index.search({.vector = vector(5), .generation = 1, .limit = kRows, .plan = ScanPlan::kFull});
  for (std::size_t i = far.size() - 40; i < far.size(); ++i) labels.push_back(far[i].label);
  std::ranges::sort(labels);
  query.filter.labels = labels;
  const auto hits = index.search(query);
  ASSERT_EQ(hits.size(), 10U);
  EXPECT_EQ(hits.front().label, far[far.size() - 40].label);
}

}  // namespace
}  // namespace footnote::ann
