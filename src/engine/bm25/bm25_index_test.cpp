#include "engine/bm25/bm25_index.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <map>
#include <random>
#include <thread>

namespace footnote::bm25 {
namespace {

using ann::Death;
using ann::GroupMask;
using ann::kAlive;
using ann::Row;
using ann::ScoredLabel;

/// A plain list of texts that answers by the formula.
class Model {
 public:
  Batch add(std::size_t count, std::int64_t born) {
    Batch batch;
    for (std::size_t i = 0; i < count; ++i) {
      Known known;
      known.row = {.label = static_cast<std::int64_t>((next_label_++ * 7919) % 1'000'003),
                   .group = static_cast<std::uint32_t>(random_() % 4),
                   .born = born};
      // Low numbers are common words, high ones rare.
      for (std::size_t w = random_() % 40; w > 0; --w) {
        const double u = std::uniform_real_distribution<>(0, 1)(random_);
        known.terms.push_back(word(static_cast<std::size_t>(60 * u * u * u)));
      }
      batch.begin_row(known.row);
      for (const auto& term : known.terms) batch.add_term(term);
      rows_.push_back(std::move(known));
    }
    return batch;
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

  std::vector<QueryTerm> query() {
    std::map<std::string, float> terms;
    for (std::size_t i = 1 + random_() % 5; i > 0; --i) terms[word(random_() % 64)] += 1;
    std::vector<QueryTerm> out;
    for (const auto& [text, weight] : terms) out.push_back({text, weight});
    return out;
  }

  std::map<std::int64_t, double> scores(const Bm25Query& query) const {
    double rows = 0;
    double length = 0;
    for (const Known& known : rows_) {
      if (!alive(known, query.generation)) continue;
      rows += 1;
      length += static_cast<double>(known.terms.size());
    }
    std::map<std::int64_t, double> out;
    for (const QueryTerm& term : query.terms) {
      double holding = 0;
      for (const Known& known : rows_) holding += alive(known, query.generation) && count(known, term.text) > 0;
      const double idf = std::log(1 + (rows - holding + 0.5) / (holding + 0.5));
      for (const Known& known : rows_) {
        const auto tf = static_cast<double>(count(known, term.text));
        if (tf == 0 || !alive(known, query.generation)) continue;
        if (query.filter.groups != nullptr && !(*query.filter.groups)[known.row.group]) continue;
        const double norm = 0.9 * (1 - 0.4 + 0.4 * static_cast<double>(known.terms.size()) / (length / rows));
        out[known.row.label] += term.weight * idf * tf / (tf + norm);
      }
    }
    return out;
  }

 private:
  struct Known {
    Row row;
    std::vector<std::string> terms;
  };
  static std::string word(std::size_t i) { return "w" + std::to_string(i); }
  static bool alive(const Known& known, std::int64_t g) { return known.row.born <= g && g < known.row.died; }
  static std::ptrdiff_t count(const Known& known, const std::string& term) {
    return std::count(known.terms.begin(), known.terms.end(), term);
  }

  std::mt19937 random_{42};
  std::int64_t next_label_ = 1;
  std::vector<Known> rows_;
};

void check_equal(const Bm25Index& index, const Model& model, const Bm25Query& query) {
  const auto expected = model.scores(query);
  const auto hits = index.search(query);
  ASSERT_EQ(hits.size(), std::min(query.limit, expected.size())) << "generation " << query.generation;
  std::vector<double> best;
  for (const auto& [label, score] : expected) best.push_back(score);
  std::sort(best.rbegin(), best.rend());
  for (std::size_t i = 0; i < hits.size(); ++i) {
    ASSERT_TRUE(expected.contains(hits[i].label));
    EXPECT_NEAR(hits[i].score, expected.at(hits[i].label), 1e-4);
    EXPECT_NEAR(hits[i].score, best[i], 1e-4) << "rank " << i;
    EXPECT_TRUE(i == 0 || ann::ranks_before(hits[i - 1], hits[i]));
  }
}

TEST(Bm25Index, EqualsTheFormulaInEveryGeneration) {
  Model model;
  Bm25Index index;
  constexpr std::int64_t kLast = 60;
  for (std::int64_t g = 1; g <= kLast; ++g) {
    const auto deaths = model.end_some(g);
    index.apply(model.add(g % 7 == 0 ? 150 : 4, g), deaths);
    if (g == 40) index.forget(20);
  }
  EXPECT_LE(index.segment_count(), 16U);
  const GroupMask masks[] = {{1, 0, 1, 0}, {0, 0, 0, 0}};
  for (std::int64_t g = 20; g <= kLast; g += 2) {
    const auto terms = model.query();
    for (const GroupMask* mask : {static_cast<const GroupMask*>(nullptr), &masks[0], &masks[1]}) {
      check_equal(index, model, {terms, g, 20, mask});
      check_equal(index, model, {terms, g, 100'000, mask});
    }
  }
}

TEST(Bm25Index, ScoresDoNotDependOnHowTheRowsLie) {
  Model one_by_one;
  Model at_once;
  Bm25Index many;
  Bm25Index few;
  for (int i = 0; i < 300; ++i) many.apply(one_by_one.add(1, 1), {});
  few.apply(at_once.add(300, 1), {});
  for (int i = 0; i < 20; ++i) {
    const auto terms = one_by_one.query();
    EXPECT_EQ(many.search({terms, 1, 50, nullptr}), few.search({terms, 1, 50, nullptr}));
  }
}

Batch batch_of(std::initializer_list<std::pair<std::int64_t, std::vector<std::string>>> rows, std::int64_t born) {
  Batch batch;
  for (const auto& [label, terms] : rows) {
    batch.begin_row({.label = label, .born = born});
    for (const auto& term : terms) batch.add_term(term);
  }
  return batch;
}

TEST(Bm25Index, CoverageWeighsByRarity) {
  Bm25Index index;
  index.apply(batch_of({{1, {"pump", "gauge"}}, {2, {"pump"}}, {3, {"pump", "valv"}}, {4, {"chees"}}}, 1), {});
  const auto idf = [](double n) { return std::log(1 + (4 - n + 0.5) / (n + 0.5)); };
  const std::vector<Alternatives> words = {{"pump"}, {"gauge", "gaug"}, {"zeppelin"}};
  const double total = idf(3) + idf(1) + idf(1);
  const std::int64_t labels[] = {4, 2, 1, 77};
  const auto shares = index.coverage(words, 1, labels);
  EXPECT_DOUBLE_EQ(shares[0], 0);
  EXPECT_DOUBLE_EQ(shares[1], idf(3) / total);
  EXPECT_DOUBLE_EQ(shares[2], (idf(3) + idf(1)) / total);
  EXPECT_DOUBLE_EQ(shares[3], 0);
  EXPECT_EQ(index.coverage({}, 1, labels), std::vector<double>(4, 0.0));
}

TEST(Bm25Index, CountsOfTermsSaturate) {
  Bm25Index index;
  index.apply(batch_of({{1, std::vector<std::string>(1000, "x")}, {2, std::vector<std::string>(3, "x")}}, 1), {});
  EXPECT_EQ(index.document_frequency("x", 1), 2U);
  const QueryTerm terms[] = {{"x", 1}};
  EXPECT_EQ(index.search({terms, 1, 10, nullptr}).size(), 2U);
}

TEST(Bm25Index, RowsWithoutTermsCountButAreNotFound) {
  Bm25Index index;
  index.apply(batch_of({{1, {}}, {2, {"x"}}}, 1), {});
  const QueryTerm terms[] = {{"x", 1}};
  EXPECT_EQ(index.search({terms, 1, 10, nullptr}).size(), 1U);
  EXPECT_TRUE(index.contains(1, 1));
  Bm25Index empty;
  empty.apply(batch_of({{1, {}}}, 1), {});
  EXPECT_TRUE(empty.search({terms, 1, 10, nullptr}).empty());
}

TEST(Bm25Index, ForgettingDropsRowsAndTerms) {
  Bm25Index index;
  index.apply(batch_of({{1, {"old", "x"}}, {2, {"x"}}}, 1), {});
  const Death death[] = {{1, 2}, {99, 2}};
  index.apply({}, death);
  EXPECT_EQ(index.document_frequency("old", 1), 1U);
  EXPECT_EQ(index.document_frequency("old", 2), 0U);
  index.forget(2);
  EXPECT_EQ(index.row_count(), 1U);
  EXPECT_EQ(index.document_frequency("x", 2), 1U);
}

TEST(Bm25Index, AnOlderCopyReadsOnWhileTheNewestChanges) {
  Model model;
  Bm25Index newest;
  newest.apply(model.add(300, 1), {});
  const Bm25Index pinned = newest;
  const auto terms = model.query();
  const auto expected = pinned.search({terms, 1, 30, nullptr});
  std::atomic<bool> done{false};
  std::atomic<int> wrong{0};
  std::thread reader([&] {
    while (!done) wrong += pinned.search({terms, 1, 30, nullptr}) != expected;
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
}  // namespace footnote::bm25
