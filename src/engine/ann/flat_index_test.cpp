#include "engine/ann/flat_index.h"

#include <gtest/gtest.h>

#include <atomic>
#include <deque>
#include <map>
#include <random>
#include <thread>

#include "engine/ann/aligned_floats.h"

namespace footnote::ann {
namespace {

constexpr std::size_t kDimension = 24;

/// A plain list of rows that answers as FlatIndex must.
class Model {
 public:
  struct Known {
    Row row;
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

  std::vector<Death> end_some(std::int64_t died) {
    std::vector<Death> out;
    for (Known& known : rows_) {
      if (known.row.died != kAlive || random_() % 10 != 0) continue;
      known.row.died = died;
      out.push_back({known.row.label, died});
    }
    return out;
  }

  std::vector<float> vector() {
    std::normal_distribution<float> normal;
    std::vector<float> out(kDimension);
    for (float& value : out) value = normal(random_);
    return out;
  }

  /// Scored by the same kernel, row by row: results must be equal to the bit.
  std::vector<ScoredLabel> search(const FlatQuery& query, cpu::CpuLevel level) const {
    std::vector<ScoredLabel> out;
    for (const Known& known : rows_) {
      const bool alive = known.row.born <= query.generation && query.generation < known.row.died;
      if (!alive || (query.filter.groups != nullptr && !(*query.filter.groups)[known.row.group])) continue;
      float best = -1e9F;
      for (const auto& v : known.vectors) best = std::max(best, product(query.vector, v, level));
      out.push_back({known.row.label, best});
    }
    std::sort(out.begin(), out.end(), ranks_before);
    if (out.size() > query.limit) out.resize(query.limit);
    return out;
  }

  const std::deque<Known>& rows() const { return rows_; }

 private:
  static float product(std::span<const float> a, std::span<const float> b, cpu::CpuLevel level) {
    AlignedFloats left(32), right(32);
    std::copy(a.begin(), a.end(), left.data());
    std::copy(b.begin(), b.end(), right.data());
    float out = 0;
    dot_kernel(level)(left.data(), right.data(), 32, 1, &out);
    return out;
  }

  std::mt19937 random_{42};
  std::int64_t next_label_ = 1;
  std::deque<Known> rows_;
};

class FlatIndexAtLevel : public ::testing::TestWithParam<cpu::CpuLevel> {};

TEST_P(FlatIndexAtLevel, EqualsAPlainLoopInEveryGeneration) {
  Model model;
  FlatIndex index(kDimension, GetParam());
  constexpr std::int64_t kLast = 60;
  for (std::int64_t g = 1; g <= kLast; ++g) {
    const auto deaths = model.end_some(g);
    index.apply(model.add(g % 7 == 0 ? 300 : 5, g), deaths);
    if (g == 40) index.forget(20);
  }
  EXPECT_LE(index.segment_count(), 16U);
  const GroupMask masks[] = {{1, 0, 1, 0, 0}, {0, 0, 0, 0, 0}};
  for (std::int64_t g = 20; g <= kLast; g += 4) {
    const auto asked = model.vector();
    for (const GroupMask* mask : {static_cast<const GroupMask*>(nullptr), &masks[0], &masks[1]}) {
      const FlatQuery query{asked, g, 25, mask};
      EXPECT_EQ(index.search(query), model.search(query, GetParam())) << "generation " << g;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Levels, FlatIndexAtLevel, ::testing::ValuesIn(cpu::usable_cpu_levels().begin(), cpu::usable_cpu_levels().end()),
                         [](const auto& level) {
                           std::string name(to_string(level.param));
                           std::erase(name, '-');
                           return name;
                         });

TEST(FlatIndex, LevelsFindTheSameRows) {
  Model model;
  const auto entries = model.add(2000, 1);
  const auto asked = model.vector();
  std::vector<std::vector<ScoredLabel>> lists;
  for (const cpu::CpuLevel level : cpu::usable_cpu_levels()) {
    FlatIndex index(kDimension, level);
    index.apply(entries, {});
    lists.push_back(index.search({asked, 1, 50, nullptr}));
  }
  for (const auto& list : lists) {
    ASSERT_EQ(list.size(), lists.front().size());
    for (std::size_t i = 0; i < list.size(); ++i) EXPECT_NEAR(list[i].score, lists.front()[i].score, 1e-4);
  }
}

TEST(FlatIndex, ScoresLabelsOneByOne) {
  Model model;
  FlatIndex index(kDimension);
  index.apply(model.add(500, 1), {});
  index.apply(model.add(20, 2), {});
  const auto asked = model.vector();
  std::map<std::int64_t, float> expected;
  for (const auto& hit : index.search({asked, 2, 1000, nullptr})) expected[hit.label] = hit.score;
  std::vector<std::int64_t> labels = {-1};
  for (const auto& known : model.rows()) labels.push_back(known.row.label);
  const auto scores = index.score(asked, 2, labels);
  EXPECT_EQ(scores[0], 0.0F);
  for (std::size_t i = 1; i < labels.size(); ++i) EXPECT_EQ(scores[i], expected.at(labels[i]));
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
  const Death death[] = {{1, 2}};
  index.apply(first, {});
  index.apply(second, death);
  const std::int64_t label[] = {1};
  EXPECT_EQ(index.search({one, 1, 9, nullptr}).size(), 1U);
  EXPECT_EQ(index.search({one, 2, 9, nullptr}).size(), 1U);
  EXPECT_NE(index.score(one, 1, label), index.score(one, 2, label));
}

TEST(FlatIndex, AnOlderCopyReadsOnWhileTheNewestChanges) {
  Model model;
  FlatIndex newest(kDimension);
  newest.apply(model.add(400, 1), {});
  const FlatIndex pinned = newest;
  const auto asked = model.vector();
  const auto expected = pinned.search({asked, 1, 30, nullptr});
  std::atomic<bool> done{false};
  std::atomic<int> wrong{0};
  std::thread reader([&] {
    while (!done) wrong += pinned.search({asked, 1, 30, nullptr}) != expected;
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
