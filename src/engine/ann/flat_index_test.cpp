#include "engine/ann/flat_index.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <numeric>
#include <random>
#include <thread>

#include "engine/ann/segment.h"

namespace footnote::ann {
namespace {

constexpr std::size_t kDimension = 24;

/// A reference implementation of FlatIndex: a plain list of rows.
class Model {
 public:
  struct Known {
    rows::Row row;
    std::vector<std::vector<float>> vectors;
  };

  std::vector<FlatEntry> add(std::size_t count, std::int64_t born) {
    const std::size_t begin = rows_.size();
    for (std::size_t i = 0; i < count; ++i) {
      Known known;
      known.row = {.label = static_cast<std::int64_t>((next_label_++ * 7919) % 1'000'003),
                   .group = static_cast<std::uint32_t>(random_() % 5),
                   .born = born};
      for (std::size_t v = 1 + random_() % 3; v > 0; --v) known.vectors.push_back(vector());
      rows_.push_back(std::move(known));
    }
    std::vector<FlatEntry> out;
    for (std::size_t i = begin; i < rows_.size(); ++i) {
      FlatEntry entry{rows_[i].row, {}};
      for (const auto& v : rows_[i].vectors) entry.vectors.emplace_back(v);
      out.push_back(std::move(entry));
    }
    return out;
  }

  std::vector<rows::Death> end_some(std::int64_t died) {
    std::vector<rows::Death> out;
    for (Known& known : rows_) {
      if (known.row.died != rows::kAlive || random_() % 10 != 0) continue;
      known.row.died = died;
      out.push_back({known.row.label, died});
    }
    return out;
  }

  /// Random vectors of any length, some all zeros and some nearly equal to others.
  std::vector<float> vector() {
    std::normal_distribution<float> normal;
    const float length = random_() % 8 == 0 ? 20.0F : 1.0F;
    std::vector<float> out(kDimension);
    if (random_() % 50 == 0) return out;
    if (last_.empty() || random_() % 5 != 0) {
      for (float& value : out) value = length * normal(random_);
    } else {
      for (std::size_t i = 0; i < kDimension; ++i) out[i] = last_[i] + 1e-4F * normal(random_);
    }
    return last_ = out;
  }

  /// Uses the same kernel row by row: results must be bit-identical.
  std::vector<rows::ScoredLabel> search(const FlatQuery& query, cpu::CpuLevel level, Metric metric = Metric::kDot) const {
    std::vector<rows::ScoredLabel> out;
    for (const Known& known : rows_) {
      if (!shows(known.row, query)) continue;
      float best = -std::numeric_limits<float>::infinity();
      for (const auto& v : known.vectors) best = std::max(best, score(query.vector, v, level, metric));
      out.push_back({known.row.label, best});
    }
    std::sort(out.begin(), out.end(), rows::ranks_before);
    if (out.size() > query.limit) out.resize(query.limit);
    return out;
  }

  static bool shows(const rows::Row& row, const FlatQuery& query) {
    const rows::RowFilter& filter = query.filter;
    return row.born <= query.generation && query.generation < row.died && (filter.groups == nullptr || (*filter.groups)[row.group] != 0) &&
           (!filter.labels || std::ranges::binary_search(*filter.labels, row.label));
  }

  const std::deque<Known>& rows() const { return rows_; }

 private:
  static float score(std::span<const float> a, std::span<const float> b, cpu::CpuLevel level, Metric metric) {
    AlignedFloats left(32), right(32);
    std::copy(a.begin(), a.end(), left.data());
    std::copy(b.begin(), b.end(), right.data());
    const Kernels& kernels = kernels_of(level);
    float out = 0;
    switch (metric) {
      case Metric::kDot: return kernels.dot(left.data(), right.data(), 32, 1, &out), out;
      case Metric::kEuclid: return kernels.squared_distance(left.data(), right.data(), 32, 1, &out), -std::sqrt(out);
      case Metric::kManhattan: return kernels.manhattan(left.data(), right.data(), 32, 1, &out), -out;
    }
    return out;
  }

  std::mt19937 random_{42};
  std::vector<float> last_;
  std::int64_t next_label_ = 1;
  std::deque<Known> rows_;
};

/// The bytes of save_raw(), to attach an index to.
std::shared_ptr<AlignedFloats> raw_of(const FlatIndex& index) {
  BufferSink sink;
  EXPECT_TRUE(index.save_raw(sink).has_value());
  EXPECT_EQ(sink.bytes.size(), index.raw_bytes());
  auto raw = std::make_shared<AlignedFloats>(sink.bytes.size() / sizeof(float));
  std::memcpy(raw->data(), sink.bytes.data(), sink.bytes.size());
  return raw;
}

/// Without copying the codes.
void attach(FlatIndex& index, const std::shared_ptr<AlignedFloats>& raw) {
  index.attach(std::shared_ptr<const float>(raw, raw->data()), 0);
}

// Sizes in raw, which holds the full vectors of all, then the codes of all.
constexpr std::size_t kRawFloats = 32, kRawCodeBytes = 64;
std::size_t vectors_in(const AlignedFloats& raw) { return raw.size() / (kRawFloats + kRawCodeBytes / sizeof(float)); }

Result<FlatIndex> saved_and_loaded(const FlatIndex& index, std::int64_t generation, cpu::CpuLevel level = cpu::best_cpu_level()) {
  BufferSink sink;
  FOOTNOTE_CHECK(index.save(sink));
  BufferSource source(sink.bytes);
  FOOTNOTE_TRY(FlatIndex loaded, FlatIndex::load(source, {.born_last = generation, .group_count = 5}, level));
  EXPECT_EQ(source.remaining(), 0U);
  attach(loaded, raw_of(index));
  return loaded;
}

class FlatIndexAtLevel : public ::testing::TestWithParam<cpu::CpuLevel> {
 protected:
  /// Compares all plans and metrics, with and without filters. Exact plans must match the reference to the bit; approximate plans may
  /// return only rows that it could return, with its scores.
  static void expect_equal(const FlatIndex& index, Model& model, std::int64_t generation) {
    static const rows::GroupMask masks[] = {{1, 0, 1, 0, 0}, {0, 0, 0, 0, 0}};
    std::vector<std::int64_t> labels;
    for (const auto& known : model.rows()) {
      if (known.row.label % 3 == 0) labels.push_back(known.row.label);
    }
    std::ranges::sort(labels);
    const rows::RowFilter filters[] = {
        {}, {.groups = &masks[0]}, {.groups = &masks[1]}, {.labels = labels}, {.groups = &masks[0], .labels = labels}};
    const auto asked = model.vector();
    for (const rows::RowFilter& filter : filters) {
      for (const std::size_t limit : {1, 25}) {
        FlatQuery query{asked, generation, limit, filter};
        const auto expected = model.search(query, GetParam(), index.metric());
        ASSERT_EQ(index.search(query), expected) << "generation " << generation;
        query.plan = ScanPlan::kFull;
        ASSERT_EQ(index.search(query), expected) << "generation " << generation;
        if (index.metric() == Metric::kManhattan) continue;
        query.plan = ScanPlan::kCodes;
        ASSERT_EQ(index.search(query), expected) << "generation " << generation;
        query.plan = ScanPlan::kSigns;
        expect_sane_guess(index.search(query), expected, model, query, index.metric());
      }
    }
  }

  static void expect_sane_guess(const std::vector<rows::ScoredLabel>& found, const std::vector<rows::ScoredLabel>& expected,
                                const Model& model, FlatQuery query, Metric metric) {
    ASSERT_EQ(found.size(), expected.size());
    EXPECT_TRUE(std::ranges::is_sorted(found, rows::ranks_before));
    query.limit = model.rows().size();
    const auto all = model.search(query, GetParam(), metric);
    std::size_t shared = 0;
    for (const rows::ScoredLabel& hit : found) {
      ASSERT_NE(std::ranges::find(all, hit), all.end()) << "a row that can't be seen, or another score";
      shared += std::ranges::count(expected, hit);
    }
    EXPECT_GE(static_cast<double>(shared), 0.8 * static_cast<double>(expected.size()));
  }
};

TEST_P(FlatIndexAtLevel, EqualsAPlainLoopInEveryGeneration) {
  for (const Metric metric : {Metric::kDot, Metric::kEuclid, Metric::kManhattan}) {
    Model model;
    FlatIndex index(kDimension, metric, GetParam());
    constexpr std::int64_t kLast = 60;
    for (std::int64_t g = 1; g <= kLast; ++g) {
      const auto deaths = model.end_some(g);
      index.apply(model.add(g % 7 == 0 ? 300 : 5, g), deaths);
      if (g == 40) index.forget(20);
    }
    EXPECT_LE(index.segment_count(), 16U);
    for (std::int64_t g = 20; g <= kLast; g += 8) expect_equal(index, model, g);
  }
}

TEST_P(FlatIndexAtLevel, WhatWasSavedAnswersAndGoesOnLikeWhatWasNot) {
  for (const Metric metric : {Metric::kDot, Metric::kEuclid}) {
    Model model;
    FlatIndex index(kDimension, metric, GetParam());
    for (std::int64_t g = 1; g <= 20; ++g) {
      const auto deaths = model.end_some(g);
      index.apply(model.add(g % 7 == 0 ? 300 : 5, g), deaths);
      if (g == 9 || g == 13) attach(index, raw_of(index));
      if (g == 11) index.forget(8);
    }
    auto loaded = saved_and_loaded(index, 20, GetParam());
    ASSERT_TRUE(loaded.has_value()) << loaded.error().message;
    EXPECT_EQ(loaded->heap_bytes(), 0U);
    EXPECT_EQ(loaded->row_count(), index.row_count());
    expect_equal(*loaded, model, 15);
    loaded->forget(20);
    EXPECT_EQ(loaded->heap_bytes(), 0U) << "what is let go of copies no full numbers";
    EXPECT_LT(loaded->row_count(), index.row_count());
    for (std::int64_t g = 21; g <= 30; ++g) {
      const auto deaths = model.end_some(g);
      const auto entries = model.add(30, g);
      index.apply(entries, deaths);
      loaded->apply(entries, deaths);
    }
    for (const FlatIndex* each : {&index, &*loaded}) {
      expect_equal(*each, model, 20);
      expect_equal(*each, model, 30);
      EXPECT_EQ(each->damaged_count(), 0U);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Levels, FlatIndexAtLevel, ::testing::ValuesIn(cpu::usable_cpu_levels().begin(), cpu::usable_cpu_levels().end()),
                         [](const auto& level) {
                           std::string name(to_string(level.param));
                           std::erase(name, '-');
                           return name;
                         });

TEST(Segment, KnowsTheRowOfEachVector) {
  std::mt19937 random(3);
  for (const std::size_t count : {1, 300, 3000}) {
    SegmentBuilder builder(kDimension, 32, count, 6 * count);
    const std::vector<float> vector(kDimension, 1.0F);
    std::vector<std::size_t> expected;
    for (std::size_t row = 0; row < count; ++row) {
      builder.add_row({.label = static_cast<std::int64_t>(row), .born = 1});
      // Long runs of rows with one vector each exercise large distances to the previous mark.
      const std::size_t vectors = row == 0 || row % 700 == 699 ? 2 + random() % 5 : 1;
      for (std::size_t v = 0; v < vectors; ++v) {
        builder.add_vector(vector);
        expected.push_back(row);
      }
    }
    const SegmentPtr segment = builder.build();
    ASSERT_EQ(segment->vector_count(), expected.size());
    ASSERT_FALSE(segment->one_vector_each());
    for (std::size_t v = 0; v < expected.size(); ++v) EXPECT_EQ(segment->row_of(v), expected[v]);
  }
}

TEST(FlatIndex, LevelsFindTheSameRows) {
  Model model;
  const auto entries = model.add(2000, 1);
  const auto asked = model.vector();
  std::vector<std::vector<rows::ScoredLabel>> lists;
  for (const cpu::CpuLevel level : cpu::usable_cpu_levels()) {
    FlatIndex index(kDimension, Metric::kDot, level);
    index.apply(entries, {});
    lists.push_back(index.search({asked, 1, 50}));
  }
  for (const auto& list : lists) {
    ASSERT_EQ(list.size(), lists.front().size());
    for (std::size_t i = 0; i < list.size(); ++i) EXPECT_NEAR(list[i].score, lists.front()[i].score, 1e-4);
  }
}

TEST(FlatIndex, SignsFindTheSameRowsInWhateverOrderTheyCame) {
  // With so few dimensions signs are imprecise: many rows of the true list are not among the best by signs, so a different choice of
  // candidates would show. Every tenth vector is one of three, to create equal estimates.
  HelperThreads helpers(1);
  for (const Metric metric : {Metric::kDot, Metric::kEuclid}) {
    Model model;
    auto entries = model.add(9000, 1);
    const std::vector<float> same[] = {model.vector(), model.vector(), model.vector()};
    for (std::size_t i = 0; i < entries.size(); i += 10) entries[i].vectors.assign(1, same[i / 10 % 3]);
    const auto index_of = [&](std::size_t step) {
      FlatIndex index(kDimension, metric);
      for (std::size_t at = 0; at < entries.size(); at += step) {
        index.apply(std::span(entries).subspan(at, std::min(step, entries.size() - at)), {});
      }
      return index;
    };
    const FlatIndex forward = index_of(9000);
    std::ranges::reverse(entries);
    const FlatIndex backward = index_of(700);
    std::shuffle(entries.begin(), entries.end(), std::mt19937(3));
    const FlatIndex mixed = index_of(2500);
    for (int i = 0; i < 20; ++i) {
      const auto asked = i < 3 ? same[i] : model.vector();
      FlatQuery query{asked, 1, 60};
      query.plan = ScanPlan::kSigns;
      const auto expected = forward.search(query);
      ASSERT_EQ(expected.size(), 60U);
      EXPECT_EQ(backward.search(query), expected);
      EXPECT_EQ(mixed.search(query), expected);
      ScanReport alone, shared;
      (void)mixed.search(query, &alone);
      query.helpers = &helpers;
      EXPECT_EQ(mixed.search(query, &shared), expected) << "half of it on another thread";
      EXPECT_EQ(std::tie(shared.scanned, shared.compared, shared.rescored), std::tie(alone.scanned, alone.compared, alone.rescored));
    }
  }
}

TEST(FlatIndex, SignsFindTheSameWhereverTheNearestLie) {
  // The floor is estimated from a sample of blocks. Here the nearest vectors are in a few blocks only, varied by round.
  constexpr std::size_t kRows = 12'000, kEvery = 32, kNearest = kRows / kEvery;
  std::mt19937 random(5);
  std::normal_distribution<float> normal;
  std::vector<std::vector<float>> vectors(kRows, std::vector<float>(kDimension));
  for (auto& vector : vectors) std::ranges::generate(vector, [&] { return normal(random); });
  const std::vector<float> asked = vectors.front();
  std::ranges::sort(vectors, std::greater{},
                    [&](const auto& vector) { return std::inner_product(vector.begin(), vector.end(), asked.begin(), 0.0F); });
  std::vector<float> expected;
  for (std::size_t only = 0; only < kEvery; ++only) {
    std::vector<FlatEntry> entries;
    std::size_t near = 0, far = kNearest;
    for (std::size_t label = 0; label < kRows; ++label) {
      const bool wants_near = label / kSignBlockRows % kEvery == only;
      const std::size_t next = (wants_near && near < kNearest) || far == kRows ? near++ : far++;
      entries.push_back({{.label = static_cast<std::int64_t>(label), .born = 1}, {vectors[next]}});
    }
    FlatIndex index(kDimension);
    index.apply(entries, {});
    std::vector<float> scores;
    for (const rows::ScoredLabel& hit : index.search({.vector = asked, .generation = 1, .limit = 60, .plan = ScanPlan::kSigns}))
      scores.push_back(hit.score);
    ASSERT_EQ(scores.size(), 60U);
    if (expected.empty()) expected = scores;
    EXPECT_EQ(scores, expected) << "the nearest in blocks " << only << " of " << kEvery;
  }
}

TEST(FlatIndex, ScoresLabelsOneByOne) {
  Model model;
  FlatIndex index(kDimension);
  index.apply(model.add(500, 1), {});
  index.apply(model.add(20, 2), {});
  const auto asked = model.vector();
  std::map<std::int64_t, float> expected;
  for (const auto& hit : index.search({asked, 2, 1000})) expected[hit.label] = hit.score;
  std::vector<std::int64_t> labels = {-1};
  for (const auto& known : model.rows()) labels.push_back(known.row.label);
  const auto scores = index.score(asked, 2, labels);
  HelperThreads helpers(1);
  EXPECT_EQ(index.score(asked, 2, labels, &helpers), scores);
  EXPECT_EQ(scores[0], std::nullopt);
  for (std::size_t i = 1; i < labels.size(); ++i) EXPECT_EQ(scores[i], expected.at(labels[i]));
}

TEST(FlatIndex, ADamagedVectorCountsByItsCodesAndIsReported) {
  Model model;
  FlatIndex index(kDimension);
  index.apply(model.add(300, 1), {});
  const auto raw = raw_of(index);
  const auto asked = model.vector();
  const FlatQuery query{.vector = asked, .generation = 1, .limit = 300};
  const auto expected = index.search(query);
  attach(index, raw);
  EXPECT_EQ(index.search(query), expected);
  EXPECT_EQ(index.damaged_count(), 0U);
  // Flip one bit in each vector: no full vector may be used.
  const std::size_t vectors = vectors_in(*raw);
  for (std::size_t v = 0; v < vectors; ++v) reinterpret_cast<std::uint32_t*>(raw->data())[v * kRawFloats + 3] ^= 0x40000000U;
  EXPECT_EQ(index.count_damaged(), vectors);
  const auto found = index.search(query);
  EXPECT_GE(index.damaged_count(), 300U);
  ASSERT_EQ(found.size(), expected.size());
  std::map<std::int64_t, float> scores;
  for (const auto& hit : expected) scores[hit.label] = hit.score;
  for (const auto& hit : found) EXPECT_NEAR(hit.score, scores.at(hit.label), 0.02 * 20 * 20) << hit.label;
  // Saving again keeps the original checksums, so the damage is still detected.
  auto again = saved_and_loaded(index, 1);
  ASSERT_TRUE(again.has_value());
  (void)again->search(query);
  EXPECT_GE(again->damaged_count(), 300U);
  // A merge uses the codes instead of damaged full vectors.
  index.apply(model.add(300, 2), {});
  EXPECT_GT(index.damaged_count(), 600U);
  for (const auto& hit : index.search({.vector = asked, .generation = 1, .limit = 300})) {
    EXPECT_NEAR(hit.score, scores.at(hit.label), 0.02 * 20 * 20);
  }
}

TEST(FlatIndex, DamagedCodesOfAFileAreNoticedAndTheFullNumbersCount) {
  for (const std::uint64_t held : {std::uint64_t{0}, FlatIndex::kCodeBytesHeld}) {
    Model model;
    FlatIndex index(kDimension);
    index.apply(model.add(300, 1), {});
    index.apply({}, model.end_some(2));
    BufferSink sink;
    ASSERT_TRUE(index.save(sink).has_value());
    const auto raw = raw_of(index);
    const std::size_t vectors = vectors_in(*raw);
    auto* const codes = reinterpret_cast<std::uint8_t*>(raw->data() + vectors * kRawFloats);
    // One bit in every second group.
    for (std::size_t v = 5; v < vectors; v += 2 * kCodeSumRows) codes[v * kRawCodeBytes + 7] ^= 16;
    BufferSource source(sink.bytes);
    FlatIndex loaded = FlatIndex::load(source, {.born_last = 2, .group_count = 5}).value();
    loaded.attach(std::shared_ptr<const float>(raw, raw->data()), held);
    EXPECT_EQ(loaded.damaged_count(), 0U) << "nobody has looked";
    for (int i = 0; i < 20; ++i) {
      const auto asked = model.vector();
      for (const ScanPlan plan : {ScanPlan::kCodes, ScanPlan::kSigns}) {
        const FlatQuery query{.vector = asked, .generation = 2, .limit = 10, .plan = plan};
        EXPECT_EQ(loaded.search(query), index.search(query));
      }
    }
    EXPECT_GT(loaded.damaged_count(), 0U);
    EXPECT_GE(loaded.count_damaged(), vectors / 2 - kCodeSumRows);
    EXPECT_LE(loaded.count_damaged(), vectors / 2 + kCodeSumRows);
    // Saving again still detects the damage.
    const auto again = saved_and_loaded(loaded, 2);
    ASSERT_TRUE(again.has_value());
    EXPECT_EQ(again->count_damaged(), loaded.count_damaged());
    // Rows that move get recomputed codes.
    loaded.forget(2);
    EXPECT_EQ(loaded.count_damaged(), 0U);
    const auto entries = model.add(300, 3);
    loaded.apply(entries, {});
    index.apply(entries, {});
    for (int i = 0; i < 20; ++i) {
      const auto asked = model.vector();
      for (const ScanPlan plan : {ScanPlan::kFull, ScanPlan::kCodes, ScanPlan::kSigns}) {
        const FlatQuery query{.vector = asked, .generation = 3, .limit = 10, .plan = plan};
        EXPECT_EQ(loaded.search(query), index.search(query));
      }
    }
  }
}

TEST(FlatIndex, AVectorWhoseNumbersAndCodesAreDamagedCountsAsZeros) {
  Model model;
  FlatIndex index(kDimension);
  index.apply(model.add(100, 1), {});
  BufferSink sink;
  ASSERT_TRUE(index.save(sink).has_value());
  const auto raw = raw_of(index);
  for (std::size_t i = 0; i < raw->size(); i += 4) reinterpret_cast<std::uint32_t*>(raw->data())[i] ^= 0x40000000U;
  BufferSource source(sink.bytes);
  FlatIndex loaded = FlatIndex::load(source, {.born_last = 1, .group_count = 5}).value();
  attach(loaded, raw);
  const auto asked = model.vector();
  const auto found = loaded.search({.vector = asked, .generation = 1, .limit = 10, .plan = ScanPlan::kCodes});
  ASSERT_EQ(found.size(), 10U);
  for (const rows::ScoredLabel& hit : found) EXPECT_EQ(hit.score, 0);
}

TEST(FlatIndex, LoadingRefusesWhatSavingDoesNotWrite) {
  Model model;
  FlatIndex index(kDimension);
  index.apply(model.add(20, 1), {});
  BufferSink sink;
  ASSERT_TRUE(index.save(sink).has_value());
  const auto loads = [&](std::size_t at, std::uint32_t value) {
    auto bytes = sink.bytes;
    std::memcpy(bytes.data() + at, &value, sizeof value);
    BufferSource source(bytes);
    return FlatIndex::load(source, {.born_last = 1, .group_count = 5}).has_value();
  };
  EXPECT_TRUE(loads(0, 0));
  EXPECT_FALSE(loads(0, 3)) << "a metric that is not";
  EXPECT_FALSE(loads(4, 0)) << "no dimension";
  EXPECT_FALSE(loads(4, FlatIndex::kDimensionMax + 1));
  EXPECT_FALSE(loads(12, FlatIndex::kSegmentRowsMax + 1));
  const std::size_t died = 12 + 8 + 20 * (8 + 8 + 4);
  EXPECT_FALSE(loads(died, 1)) << "died before it was born, or after all";
}

TEST(FlatIndex, NumbersTooLargeToMultiplyRuleNothingOut) {
  FlatIndex index(2);
  const std::vector<float> huge{3e38F, -3e38F}, tiny{1e-40F, 0}, plain{1, 1};
  const FlatEntry entries[] = {{{.label = 1, .born = 1}, {huge}}, {{.label = 2, .born = 1}, {tiny}}, {{.label = 3, .born = 1}, {plain}}};
  index.apply(entries, {});
  for (const ScanPlan plan : {ScanPlan::kFull, ScanPlan::kCodes, ScanPlan::kSigns}) {
    const auto found = index.search({.vector = plain, .generation = 1, .limit = 1, .plan = plan});
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].label, 3);
  }
}

TEST(ScanPlan, FollowsSizeShareAndMetric) {
  using enum ScanPlan;
  const auto plan = [](std::size_t visible, std::size_t held, std::size_t limit = 10, Metric metric = Metric::kDot) {
    return choose_plan({.metric = metric, .visible = visible, .held = held, .limit = limit});
  };
  EXPECT_EQ(plan(kFullVectorsMax, 1'000'000), kFull);
  EXPECT_EQ(plan(kFullVectorsMax + 1, 1'000'000), kCodes);
  EXPECT_EQ(plan(500, 500, 500), kFull) << "all of them are wanted";
  EXPECT_EQ(plan(kSignVectorsMin - 1, kSignVectorsMin - 1), kCodes);
  EXPECT_EQ(plan(kSignVectorsMin, kSignVectorsMin), kSigns);
  EXPECT_EQ(plan(kSignVectorsMin, kSignVectorsMin * kSignShareMin), kSigns);
  EXPECT_EQ(plan(kSignVectorsMin, kSignVectorsMin * kSignShareMin + kSignShareMin), kCodes) << "too few of what is there";
  EXPECT_EQ(plan(kSignVectorsMin, kSignVectorsMin, kSignVectorsMin / 4), kCodes) << "nearly all would be compared";
  EXPECT_EQ(plan(1'000'000, 1'000'000, 10, Metric::kEuclid), kSigns);
  EXPECT_EQ(plan(1'000'000, 1'000'000, 10, Metric::kManhattan), kFull);
  EXPECT_EQ(plan(1'000'000, 1'000'000, 1'000'000'000), kFull);
}

TEST(FlatIndex, ReportsWhatItDid) {
  Model model;
  FlatIndex index(kDimension);
  index.apply(model.add(400, 1), {});
  const auto asked = model.vector();
  ScanReport report;
  (void)index.search({.vector = asked, .generation = 1, .limit = 5}, &report);
  EXPECT_EQ(report.plan, ScanPlan::kCodes);
  EXPECT_GE(report.scanned, 400U);
  EXPECT_GE(report.rescored, 5U);
  EXPECT_LT(report.rescored, report.scanned / 2);
}

TEST(FlatIndex, ForgettingDropsTheRows) {
  Model model;
  FlatIndex index(kDimension);
  index.apply(model.add(300, 1), {});
  const auto deaths = model.end_some(2);
  index.apply({}, deaths);
  EXPECT_EQ(index.row_count(), 300U);
  index.forget(1);
  EXPECT_EQ(index.row_count(), 300U);
  index.forget(2);
  EXPECT_EQ(index.row_count(), 300U - deaths.size());
}

TEST(FlatIndex, ALabelMayEndAndBeginAnewInOneStep) {
  FlatIndex index(kDimension);
  Model model;
  const auto one = model.vector();
  const auto two = model.vector();
  const FlatEntry first[] = {{{.label = 1, .born = 1}, {one}}};
  const FlatEntry second[] = {{{.label = 1, .born = 2}, {two}}};
  const rows::Death death[] = {{1, 2}};
  index.apply(first, {});
  index.apply(second, death);
  const std::int64_t label[] = {1};
  EXPECT_EQ(index.search({one, 1, 9}).size(), 1U);
  EXPECT_EQ(index.search({one, 2, 9}).size(), 1U);
  EXPECT_NE(index.score(one, 1, label), index.score(one, 2, label));
}

TEST(FlatIndex, AnOlderCopyReadsOnWhileTheNewestChanges) {
  Model model;
  FlatIndex newest(kDimension);
  newest.apply(model.add(400, 1), {});
  const FlatIndex pinned = newest;
  const auto asked = model.vector();
  const auto expected = pinned.search({asked, 1, 30});
  std::atomic<bool> done{false};
  std::atomic<int> wrong{0};
  std::thread reader([&] {
    while (!done) wrong += pinned.search({asked, 1, 30}) != expected;
  });
  for (std::int64_t g = 2; g < 60; ++g) {
    const auto deaths = model.end_some(g);
    newest.apply(model.add(20, g), deaths);
    if (g % 20 == 0) newest.forget(g);
  }
  done = true;
  reader.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace footnote::ann
