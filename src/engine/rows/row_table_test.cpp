#include "engine/rows/row_table.h"

#include <gtest/gtest.h>

#include <random>

#include "engine/rows/top_k.h"

namespace footnote::rows {
namespace {

TEST(RowTable, ARowIsThereFromItsBirthUntilItsDeath) {
  const std::vector<Row> rows = {{.label = 5, .born = 2, .died = 4}, {.label = 5, .born = 4}, {.label = 8, .born = 1}};
  RowTable table(rows);
  EXPECT_EQ(table.find(5, 1), RowTable::kNone);
  EXPECT_EQ(table.find(5, 2), 0U);
  EXPECT_EQ(table.find(5, 3), 0U);
  EXPECT_EQ(table.find(5, 4), 1U);
  EXPECT_EQ(table.find(7, 4), RowTable::kNone);
  EXPECT_FALSE(table.all_alive_at(3));
  EXPECT_TRUE(table.any_dead_by(4));
  EXPECT_FALSE(table.any_dead_by(3));
}

TEST(RowTable, FindsTheFirstRowOfALabelWithGapsAndWithout) {
  const std::int64_t lists[][6] = {{3, 4, 5, 6, 7, 8}, {3, 3, 4, 5, 6, 7}, {3, 4, 5, 5, 5, 9}, {3, 5, 6, 7, 7, 8}, {-2, -1, 0, 0, 2, 9}};
  for (const auto& labels : lists) {
    std::vector<Row> rows;
    for (const std::int64_t label : labels) rows.push_back({.label = label, .born = static_cast<std::int64_t>(rows.size())});
    const RowTable table(rows);
    for (std::int64_t label = -4; label < 12; ++label) {
      const auto first = std::ranges::find(rows, label, &Row::label);
      const auto expected = first == rows.end() ? RowTable::kNone : static_cast<std::size_t>(first - rows.begin());
      EXPECT_EQ(table.find(label, 100), expected) << label;
    }
  }
}

TEST(RowTable, ADeathGoesToTheLivingRowBornBefore) {
  const std::vector<Row> rows = {{.label = 5, .born = 2}, {.label = 8, .born = 1}};
  RowTable table(rows);
  EXPECT_TRUE(table.all_alive_at(2));
  EXPECT_EQ(table.end({5, 2}), RowTable::kNone) << "born in that generation, not before";
  EXPECT_EQ(table.end({6, 9}), RowTable::kNone);
  EXPECT_EQ(table.end({5, 7}), 0U);
  EXPECT_EQ(table.end({5, 9}), RowTable::kNone) << "dies once";
  EXPECT_TRUE(table.all_alive_at(6));
  EXPECT_FALSE(table.all_alive_at(7));
}

TEST(RowTable, MasksLetGroupsThrough) {
  const std::vector<Row> rows = {
      {.label = 1, .group = 0, .born = 1}, {.label = 2, .group = 1, .born = 1}, {.label = 3, .group = 9, .born = 1}};
  const RowTable table(rows);
  std::vector<std::uint8_t> visible;
  const GroupMask mask = {0, 1};
  table.mark_visible(1, {.groups = &mask}, visible);
  EXPECT_EQ(visible, (std::vector<std::uint8_t>{0, 1, 0})) << "a group past the mask is not let through";
  table.mark_visible(1, {}, visible);
  EXPECT_EQ(visible, (std::vector<std::uint8_t>{1, 1, 1}));
}

TEST(RowTable, LabelsLetRowsThrough) {
  const std::vector<Row> rows = {{.label = 2, .group = 0, .born = 1},
                                 {.label = 4, .group = 1, .born = 1, .died = 2},
                                 {.label = 4, .group = 1, .born = 2},
                                 {.label = 6, .group = 0, .born = 1}};
  const RowTable table(rows);
  std::vector<std::uint8_t> visible;
  const std::vector<std::int64_t> labels = {1, 4, 5, 6, 9};
  table.mark_visible(2, {.labels = labels}, visible);
  EXPECT_EQ(visible, (std::vector<std::uint8_t>{0, 0, 1, 1}));
  const GroupMask mask = {1, 0};
  table.mark_visible(2, {.groups = &mask, .labels = labels}, visible);
  EXPECT_EQ(visible, (std::vector<std::uint8_t>{0, 0, 0, 1})) << "both conditions hold";
  table.mark_visible(2, {.labels = std::span<const std::int64_t>{}}, visible);
  EXPECT_EQ(visible, (std::vector<std::uint8_t>{0, 0, 0, 0})) << "no label is no row";
}

TEST(RowTable, BitsSayWhatBytesSay) {
  std::mt19937 random(5);
  for (const std::size_t count : {1, 63, 64, 65, 700}) {
    std::vector<Row> rows;
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint32_t group = i < 300 ? static_cast<std::uint32_t>(i / 10) : static_cast<std::uint32_t>(random() % 900);
      const auto born = static_cast<std::int64_t>(random() % 5);
      rows.push_back(
          {.label = static_cast<std::int64_t>(i / 2), .group = group, .born = born, .died = random() % 4 == 0 ? born + 2 : kAlive});
    }
    const RowTable table(rows);
    GroupMask mask(800, 0);
    for (std::size_t g = 0; g < mask.size(); g += 1 + random() % 9) mask[g] = 1;
    const GroupMask none(800, 0);
    const GroupMask short_one(7, 1);
    std::vector<std::int64_t> labels;
    for (std::int64_t label = -3; label < 400; label += 1 + static_cast<std::int64_t>(random() % 4)) labels.push_back(label);
    const RowFilter filters[] = {
        {}, {.groups = &mask}, {.groups = &none}, {.groups = &short_one}, {.labels = labels}, {.groups = &mask, .labels = labels}};
    for (const RowFilter& filter : filters) {
      for (std::int64_t generation = -1; generation < 8; ++generation) {
        std::vector<std::uint8_t> bytes;
        table.mark_visible(generation, filter, bytes);
        RowBits bits;
        const std::size_t found = table.find_visible(generation, filter, bits);
        std::vector<std::uint8_t> from_bits(count, 0);
        for_each_run(bits, [&](std::size_t begin, std::size_t end) {
          ASSERT_LT(begin, end);
          ASSERT_LE(end, count);
          EXPECT_TRUE(end == count || bytes[end] == 0) << "a run goes on";
          std::fill(from_bits.begin() + static_cast<std::ptrdiff_t>(begin), from_bits.begin() + static_cast<std::ptrdiff_t>(end), 1);
        });
        EXPECT_EQ(from_bits, bytes);
        EXPECT_EQ(found, static_cast<std::size_t>(std::count(bytes.begin(), bytes.end(), 1)));
      }
    }
  }
}

TEST(TopK, KeepsTheBestWhateverTheOrder) {
  const std::vector<ScoredLabel> offers = {{1, 0.5F}, {2, 0.9F}, {3, 0.5F}, {4, -1.0F}, {0, 0.5F}};
  std::vector<std::size_t> order = {0, 1, 2, 3, 4};
  do {
    TopK top(3);
    for (const std::size_t i : order) top.offer(offers[i].label, offers[i].score);
    EXPECT_EQ(top.take(), (std::vector<ScoredLabel>{{2, 0.9F}, {0, 0.5F}, {1, 0.5F}}));
  } while (std::next_permutation(order.begin(), order.end()));
  TopK none(0);
  none.offer(1, 1);
  EXPECT_TRUE(none.take().empty());
  TopK numbers(2);
  numbers.offer(1, std::numeric_limits<float>::quiet_NaN());
  EXPECT_TRUE(numbers.take().empty());
}

struct Pile {
  std::vector<int> rows;
};

TEST(AppendTiered, KeepsFewSegmentsAndCopiesEachRowALogarithmicNumberOfTimes) {
  std::vector<std::shared_ptr<Pile>> piles;
  std::size_t copied = 0;
  constexpr std::size_t kRows = 10'000;
  for (std::size_t i = 0; i < kRows; ++i) {
    append_tiered(piles, std::make_shared<Pile>(Pile{{0}}), 1 << 20, [&](const Pile& a, const Pile& b) {
      copied += a.rows.size() + b.rows.size();
      return std::make_shared<Pile>(Pile{std::vector<int>(a.rows.size() + b.rows.size())});
    });
  }
  EXPECT_LE(piles.size(), 15U);
  EXPECT_LE(copied, kRows * 15);
}

TEST(AppendTiered, StopsAtTheBound) {
  std::vector<std::shared_ptr<Pile>> piles;
  for (int i = 0; i < 64; ++i) {
    append_tiered(piles, std::make_shared<Pile>(Pile{{0}}), 8, [](const Pile& a, const Pile& b) {
      return std::make_shared<Pile>(Pile{std::vector<int>(a.rows.size() + b.rows.size())});
    });
  }
  EXPECT_EQ(piles.size(), 8U);
  for (const auto& pile : piles) EXPECT_EQ(pile->rows.size(), 8U);
}

}  // namespace
}  // namespace footnote::rows
