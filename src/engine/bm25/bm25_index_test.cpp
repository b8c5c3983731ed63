#include "engine/bm25/bm25_index.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <map>
#include <random>
#include <thread>

namespace footnote::bm25 {
namespace {

using rows::Death;
using rows::GroupMask;
using rows::kAlive;
using rows::Row;
using rows::ScoredLabel;

/// A reference implementation: a plain list of texts, scored by the formula.
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
      for (std::uint32_t p = 0; p < known.terms.size(); ++p) batch.add_term(known.terms[p], p);
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
    EXPECT_TRUE(i == 0 || rows::ranks_before(hits[i - 1], hits[i]));
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

/// Enough rows for several windows and blocks: common words in half of them, rare ones in a few.
class Crowd {
 public:
  explicit Crowd(unsigned seed) : random_(seed) {
    for (std::int64_t generation = 1; generation <= kGenerations; ++generation) add_some(generation);
  }

  std::vector<QueryTerm> query() {
    std::map<std::string, QueryTerm> terms;
    for (std::size_t i = 1 + random_() % 6; i > 0; --i) {
      std::string text = word(random_() % kWords);
      terms[text] = {.text = text, .weight = static_cast<float>(1 + random_() % 3), .group = static_cast<std::uint32_t>(random_() % 3 / 2)};
    }
    std::vector<QueryTerm> out;
    for (auto& [text, term] : terms) out.push_back(term);
    return out;
  }

  static constexpr std::int64_t kGenerations = 6;
  static constexpr std::uint32_t kGroups = 40;
  Bm25Index index;
  std::vector<std::int64_t> labels;
  std::mt19937 random_;

 private:
  static constexpr std::size_t kWords = 24;
  static std::string word(std::size_t i) { return "w" + std::to_string(i); }

  void add_some(std::int64_t generation) {
    Batch batch;
    for (int i = 0; i < 4000; ++i) {
      labels.push_back(generation * 1'000'000 + (i * 7919) % 4001);
      batch.begin_row({.label = labels.back(), .group = static_cast<std::uint32_t>(random_() % kGroups), .born = generation});
      // Runs of rows that repeat a word often alternate with runs that do not, so that blocks have different bounds.
      const std::size_t loud = static_cast<std::size_t>(i) / 500;
      std::uint32_t position = 0;
      for (std::size_t w = 0; w < kWords; ++w) {
        if (random_() % (w * w + 2) != 0) continue;
        for (std::size_t n = 1 + (w == loud ? random_() % 30 : random_() % 2); n > 0; --n) batch.add_term(word(w), position++);
      }
    }
    std::vector<Death> deaths;
    for (std::size_t i = 0; generation % 2 == 0 && i < labels.size(); i += 3 + random_() % 50) deaths.push_back({labels[i], generation});
    index.apply(batch, deaths);
  }
};

TEST(Bm25Index, PrunedSearchesEqualExhaustiveOnes) {
  Crowd crowd(7);
  rows::GroupMask one(Crowd::kGroups, 0);
  one[3] = 1;
  rows::GroupMask half(Crowd::kGroups, 0);
  std::fill_n(half.begin(), Crowd::kGroups / 2, std::uint8_t{1});
  std::vector<std::int64_t> few;
  for (std::size_t i = 0; i < crowd.labels.size(); i += 97) few.push_back(crowd.labels[i]);
  std::ranges::sort(few);
  const rows::RowFilter filters[] = {{}, {.groups = &one}, {.groups = &half}, {.labels = few}, {.groups = &half, .labels = few}};
  std::size_t found = 0;
  for (int i = 0; i < 400; ++i) {
    const auto terms = crowd.query();
    Bm25Query query{.terms = terms,
                    .generation = 1 + static_cast<std::int64_t>(crowd.random_() % Crowd::kGenerations),
                    .limit = std::array<std::size_t, 4>{1, 7, 18, 100}[crowd.random_() % 4],
                    .filter = filters[i % std::size(filters)]};
    const auto pruned = crowd.index.search(query);
    query.pruning = Pruning::kOff;
    ASSERT_EQ(pruned, crowd.index.search(query)) << "query " << i;
    found += pruned.size();
  }
  EXPECT_GT(found, 1000U);
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
    for (std::uint32_t p = 0; p < terms.size(); ++p) batch.add_term(terms[p], p);
  }
  return batch;
}

std::vector<std::int64_t> labels_of(const std::vector<ScoredLabel>& hits) {
  std::vector<std::int64_t> out;
  for (const auto& hit : hits) out.push_back(hit.label);
  std::ranges::sort(out);
  return out;
}

TEST(Bm25Index, APhraseIsDemandedWhereSomeRowHoldsIt) {
  Bm25Index index;
  index.apply(batch_of({{1, {"red", "fox", "red", "hen"}}, {2, {"fox", "red"}}, {3, {"hen", "red", "fox"}}, {4, {"red", "big", "fox"}}}, 1),
              {});
  const QueryTerm terms[] = {{.text = "red"}, {.text = "fox"}};
  using Labels = std::vector<std::int64_t>;
  const auto found = [&](std::vector<Phrase> phrases, rows::RowFilter filter = {}) {
    return labels_of(index.search({.terms = terms, .generation = 1, .filter = filter, .phrases = phrases}));
  };
  EXPECT_EQ(found({{{{"red", 0}, {"fox", 1}}}}), (Labels{1, 3}));
  EXPECT_EQ(found({{{{"red", 0}, {"fox", 2}}}}), Labels{4});
  EXPECT_EQ(found({{{{"red", 0}, {"hen", 1}}}, {{{"red", 0}, {"fox", 1}}}}), Labels{1});
  EXPECT_EQ(found({{{{"no", 0}, {"such", 1}}, {{"fox", 0}, {"red", 1}}}}), (Labels{1, 2})) << "any one of its forms";
  EXPECT_EQ(found({{{{"fox", 0}, {"hen", 1}}}}), (Labels{1, 2, 3, 4})) << "no row holds it: plain words";
  const std::vector<std::int64_t> two = {2};
  EXPECT_EQ(found({{{{"red", 0}, {"fox", 1}}}}, {.labels = two}), Labels{2}) << "no row of those that pass holds it";
  EXPECT_EQ(found({{}}), (Labels{1, 2, 3, 4}));
}

TEST(Bm25Index, PhrasesAreFoundInLongLists) {
  Bm25Index index;
  Batch batch;
  constexpr std::int64_t kRows = 1000;
  for (std::int64_t label = 0; label < kRows; ++label) {
    batch.begin_row({.label = label, .born = 1});
    batch.add_term("a", static_cast<std::uint32_t>(label * 3));
    batch.add_term("a", static_cast<std::uint32_t>(label * 3 + 300));
    batch.add_term("b", static_cast<std::uint32_t>(label * 3 + 300 + (label % 100 == 0 ? 1 : 2)));
  }
  index.apply(batch, {});
  const QueryTerm terms[] = {{.text = "a"}, {.text = "b"}};
  const Phrase phrases[] = {{{{"a", 0}, {"b", 1}}}};
  EXPECT_EQ(labels_of(index.search({.terms = terms, .generation = 1, .limit = 50, .phrases = phrases})),
            (std::vector<std::int64_t>{0, 100, 200, 300, 400, 500, 600, 700, 800, 900}));
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
