#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "contracts/stopped_call.h"
#include "ports/vector_store.h"

/// What every VectorStore must do. Include in one test file of a provider and write
///   INSTANTIATE_TEST_SUITE_P(Local, VectorStoreContract, ::testing::Values(VectorStoreCase{"local", make}), vector_store_case_name);
namespace footnote {

struct VectorStoreCase {
  std::string name;
  std::function<std::unique_ptr<VectorStore>()> make;
};

inline std::string vector_store_case_name(const ::testing::TestParamInfo<VectorStoreCase>& info) { return info.param.name; }

class VectorStoreContract : public ::testing::TestWithParam<VectorStoreCase> {
 protected:
  static constexpr CorpusId kCorpus{7};
  static constexpr std::size_t kDimension = 12;
  using Vector = std::vector<float>;
  using Found = std::vector<std::int64_t>;

  static Vector axis(std::size_t i, float tilt = 0) {
    Vector out(kDimension, 0.0F);
    out[i] = std::sqrt(1 - tilt * tilt);
    out[(i + 1) % kDimension] = tilt;
    return out;
  }

  Vector random_unit() {
    std::normal_distribution<float> normal;
    Vector out(kDimension);
    double square = 0;
    for (float& value : out) value = normal(random_), square += value * value;
    for (float& value : out) value = static_cast<float>(value / std::sqrt(square));
    return out;
  }

  static IndexRow row(std::int64_t chunk, Generation born, std::vector<Vector> vectors, std::int64_t document = 1) {
    IndexRow out;
    out.chunk = {chunk};
    out.document = {document};
    out.born = born;
    out.document_key = "doc-" + std::to_string(document);
    out.attributes.tags = {document % 2 == 0 ? "even" : "odd"};
    out.vectors = std::move(vectors);
    return out;
  }

  void apply(IndexChanges changes) {
    const auto done = store_->apply(call_, kCorpus, changes);
    ASSERT_TRUE(done.has_value()) << done.error().message;
  }

  VectorQuery query(const Vector& vector, Generation generation, std::size_t limit = 100, const Filter* filter = nullptr) const {
    return {kCorpus, generation, vector, limit, filter};
  }

  Found found(const Vector& vector, Generation generation, std::size_t limit = 100, const Filter* filter = nullptr) {
    const auto hits = store_->search(call_, query(vector, generation, limit, filter));
    EXPECT_TRUE(hits.has_value()) << hits.error().message;
    Found out;
    if (hits) std::transform(hits->begin(), hits->end(), std::back_inserter(out), [](const ScoredChunk& hit) { return hit.chunk.value; });
    return out;
  }

  ErrorCode search_error(const Vector& vector, Generation generation) {
    const auto hits = store_->search(call_, query(vector, generation));
    EXPECT_FALSE(hits.has_value());
    return hits ? ErrorCode::kInternal : hits.error().code;
  }

  CallContext call_;
  std::mt19937 random_{20260301};
  std::unique_ptr<VectorStore> store_ = GetParam().make();
};

TEST_P(VectorStoreContract, AnUnknownCorpusIsEmptyAtGenerationZero) {
  EXPECT_EQ(store_->generation(call_, kCorpus).value(), 0);
  EXPECT_EQ(found(axis(0), 0), Found{});
  EXPECT_EQ(search_error(axis(0), 1), ErrorCode::kFailedPrecondition);
}

TEST_P(VectorStoreContract, BestFirstByCosineWhateverTheLengths) {
  Vector far = axis(0, 0.6F);
  for (float& value : far) value *= 9;
  apply({0, 1, {row(1, 1, {far}), row(2, 1, {axis(0, 0.1F)}), row(3, 1, {axis(5)})}, {}});
  Vector asked = axis(0);
  for (float& value : asked) value *= 3;
  const auto hits = store_->search(call_, query(asked, 1)).value();
  ASSERT_EQ(hits.size(), 3U);
  EXPECT_EQ(hits[0].chunk.value, 2);
  EXPECT_EQ(hits[1].chunk.value, 1);
  EXPECT_NEAR(hits[0].score, std::sqrt(0.99), 1e-5);
  EXPECT_NEAR(hits[1].score, 0.8, 1e-5);
  EXPECT_NEAR(hits[2].score, 0.0, 1e-5);
}

TEST_P(VectorStoreContract, EqualScoresComeByChunkId) {
  apply({0, 1, {row(9, 1, {axis(0)}), row(3, 1, {axis(0)}), row(5, 1, {axis(0)}), row(4, 1, {axis(0)})}, {}});
  EXPECT_EQ(found(axis(0), 1), (Found{3, 4, 5, 9}));
  EXPECT_EQ(found(axis(0), 1, 2), (Found{3, 4}));
  EXPECT_EQ(found(axis(0), 1, 0), Found{});
}

TEST_P(VectorStoreContract, AChunkCountsByItsBestWindowAndComesOnce) {
  apply({0, 1, {row(1, 1, {axis(3), axis(0, 0.2F), axis(4)}), row(2, 1, {axis(0, 0.5F)})}, {}});
  EXPECT_EQ(found(axis(0), 1), (Found{1, 2}));
  const ChunkId chunks[] = {{2}, {1}, {99}};
  const auto scores = store_->score(call_, query(axis(0), 1), chunks).value();
  EXPECT_NEAR(scores[0], std::sqrt(0.75), 1e-5);
  EXPECT_NEAR(scores[1], std::sqrt(0.96), 1e-5);
  EXPECT_EQ(scores[2], 0.0);
}

TEST_P(VectorStoreContract, ARowWithoutVectorsIsNotFound) {
  apply({0, 1, {row(1, 1, {}), row(2, 1, {axis(0)})}, {}});
  EXPECT_EQ(found(axis(0), 1), Found{2});
  apply({1, 2, {}, {{{1}, 2}}});
}

TEST_P(VectorStoreContract, AGenerationSeesExactlyTheRowsAliveInIt) {
  apply({0, 2, {row(1, 1, {axis(0)}), row(2, 2, {axis(0)})}, {}});
  apply({2, 4, {row(3, 4, {axis(0)})}, {{{1}, 3}}});
  EXPECT_EQ(found(axis(0), 1), Found{1});
  EXPECT_EQ(found(axis(0), 2), (Found{1, 2}));
  EXPECT_EQ(found(axis(0), 3), Found{2});
  EXPECT_EQ(found(axis(0), 4), (Found{2, 3}));
  EXPECT_EQ(search_error(axis(0), 5), ErrorCode::kFailedPrecondition);
  const ChunkId gone[] = {{1}};
  EXPECT_NEAR(store_->score(call_, query(axis(0), 2), gone).value()[0], 1.0, 1e-5);
  EXPECT_EQ(store_->score(call_, query(axis(0), 3), gone).value()[0], 0.0);
}

TEST_P(VectorStoreContract, ARowMayComeAndGoInOneStep) {
  apply({0, 3, {row(1, 1, {axis(0)}), row(2, 2, {axis(0)})}, {{{1}, 2}}});
  EXPECT_EQ(found(axis(0), 1), Found{1});
  EXPECT_EQ(found(axis(0), 3), Found{2});
}

TEST_P(VectorStoreContract, ForgetLetsGoOfOldGenerationsOnly) {
  apply({0, 1, {row(1, 1, {axis(0)}, 1), row(2, 1, {axis(0)}, 2)}, {}});
  apply({1, 2, {row(3, 2, {axis(0)}, 3)}, {{{1}, 2}}});
  apply({2, 3, {}, {{{2}, 3}}});
  ASSERT_TRUE(store_->forget(call_, kCorpus, 2).has_value());
  EXPECT_EQ(search_error(axis(0), 1), ErrorCode::kFailedPrecondition);
  EXPECT_EQ(found(axis(0), 2), (Found{2, 3}));
  EXPECT_EQ(found(axis(0), 3), Found{3});
  apply({3, 4, {row(4, 4, {axis(0)}, 4)}, {}});
  EXPECT_EQ(found(axis(0), 4), (Found{3, 4}));
  const Filter even{.tags = {"even"}};
  EXPECT_EQ(found(axis(0), 4, 100, &even), Found{4});
}

TEST_P(VectorStoreContract, ChangesMustBeginWhereTheIndexStands) {
  apply({0, 2, {row(1, 1, {axis(0)})}, {}});
  for (const Generation from : {0, 1, 3}) {
    const auto done = store_->apply(call_, kCorpus, {from, 5, {row(2, 5, {axis(1)})}, {}});
    ASSERT_FALSE(done.has_value());
    EXPECT_EQ(done.error().code, ErrorCode::kFailedPrecondition);
  }
  EXPECT_EQ(store_->generation(call_, kCorpus).value(), 2);
  EXPECT_EQ(found(axis(0), 2), Found{1});
  ASSERT_TRUE(store_->drop(call_, kCorpus).has_value());
  EXPECT_EQ(store_->generation(call_, kCorpus).value(), 0);
  apply({0, 5, {row(2, 5, {axis(1)})}, {}});
  EXPECT_EQ(found(axis(1), 5), Found{2});
}

TEST_P(VectorStoreContract, AnotherDimensionIsRefusedAndChangesNothing) {
  apply({0, 1, {row(1, 1, {axis(0)})}, {}});
  const auto done = store_->apply(call_, kCorpus, {1, 2, {row(2, 2, {axis(1)}), row(3, 2, {Vector{1, 0}})}, {{{1}, 2}}});
  ASSERT_FALSE(done.has_value());
  EXPECT_EQ(done.error().code, ErrorCode::kFailedPrecondition);
  EXPECT_EQ(found(axis(0), 1), Found{1});
  EXPECT_EQ(search_error(Vector{1, 0}, 1), ErrorCode::kFailedPrecondition);
}

TEST_P(VectorStoreContract, CorporaDoNotMix) {
  apply({0, 1, {row(1, 1, {axis(0)})}, {}});
  ASSERT_TRUE(store_->apply(call_, CorpusId{8}, {0, 1, {row(2, 1, {axis(0)})}, {}}).has_value());
  EXPECT_EQ(found(axis(0), 1), Found{1});
  ASSERT_TRUE(store_->drop(call_, CorpusId{8}).has_value());
  EXPECT_EQ(found(axis(0), 1), Found{1});
}

TEST_P(VectorStoreContract, AttributesThatChangedFilterFromTheirGenerationOn) {
  IndexRow old_version = row(1, 1, {axis(0)});
  old_version.attributes.tags = {"draft"};
  IndexRow new_version = row(2, 2, {axis(0)});
  new_version.attributes.tags = {"final"};
  apply({0, 1, {old_version}, {}});
  apply({1, 2, {new_version}, {{{1}, 2}}});
  const Filter draft{.tags = {"draft"}};
  const Filter final_only{.tags = {"final"}};
  EXPECT_EQ(found(axis(0), 1, 100, &draft), Found{1});
  EXPECT_EQ(found(axis(0), 1, 100, &final_only), Found{});
  EXPECT_EQ(found(axis(0), 2, 100, &draft), Found{});
  EXPECT_EQ(found(axis(0), 2, 100, &final_only), Found{2});
}

// Adds and removes random rows over many steps; then queries every generation with and without a filter, and compares with a plain loop
// over the rows.
TEST_P(VectorStoreContract, EqualsBruteForceInEveryGeneration) {
  struct Known {
    IndexRow row;
    Generation died = std::numeric_limits<Generation>::max();
  };
  std::vector<Known> all;
  constexpr Generation kLast = 40;
  std::int64_t next_chunk = 1000;
  for (Generation g = 1; g <= kLast; ++g) {
    IndexChanges changes{g - 1, g, {}, {}};
    for (Known& known : all) {
      if (known.died > kLast && random_() % 8 == 0) changes.removed.push_back({known.row.chunk, known.died = g});
    }
    for (std::size_t i = random_() % 30; i > 0; --i) {
      std::vector<Vector> windows;
      for (std::size_t w = 1 + random_() % 3; w > 0; --w) windows.push_back(random_unit());
      // Ids are not in order.
      all.push_back({row((next_chunk++) ^ 0x55, g, windows, 1 + static_cast<std::int64_t>(random_() % 9))});
      changes.added.push_back(all.back().row);
    }
    apply(changes);
    if (g == kLast / 2) {
      ASSERT_TRUE(store_->forget(call_, kCorpus, kLast / 4).has_value());
    }
  }
  auto some = std::make_shared<std::vector<ChunkId>>();
  for (std::int64_t chunk = 1000; chunk < next_chunk; chunk += 3) some->push_back(ChunkId{chunk ^ 0x55});
  std::ranges::sort(*some);
  const Filter filters[] = {{}, {.tags = {"even"}}, {.documents = {{3}, {5}}}, {.chunks = some}, {.tags = {"even"}, .chunks = some}};
  for (Generation g = kLast / 4; g <= kLast; g += 3) {
    for (const Filter& filter : filters) {
      const Vector asked = random_unit();
      std::vector<std::pair<double, std::int64_t>> expected;
      for (const Known& known : all) {
        if (known.row.born > g || known.died <= g) continue;
        if (!names_chunk(filter, known.row.chunk) || !matches(filter, known.row.subject())) continue;
        double best = -2;
        for (const Vector& v : known.row.vectors) {
          double dot = 0;
          for (std::size_t i = 0; i < kDimension; ++i) dot += static_cast<double>(v[i]) * asked[i];
          best = std::max(best, dot);
        }
        expected.emplace_back(-best, known.row.chunk.value);
      }
      std::sort(expected.begin(), expected.end());
      const auto hits = store_->search(call_, query(asked, g, 15, &filter)).value();
      ASSERT_EQ(hits.size(), std::min<std::size_t>(15, expected.size()));
      for (std::size_t i = 0; i < hits.size(); ++i) {
        EXPECT_EQ(hits[i].chunk.value, expected[i].second) << "generation " << g << " rank " << i;
        EXPECT_NEAR(hits[i].score, -expected[i].first, 1e-5);
      }
    }
  }
}

// Each step replaces one row by two: a reader must count exactly the rows of its generation, whatever the writer does meanwhile.
TEST_P(VectorStoreContract, ReadersSeeWholeStepsWhileAWriterWorks) {
  apply({0, 1, {row(1, 1, {axis(0)})}, {}});
  std::atomic<bool> done{false};
  std::atomic<int> reads{0};
  std::vector<std::thread> readers;
  std::atomic<int> wrong{0};
  for (int r = 0; r < 3; ++r) {
    readers.emplace_back([&] {
      while (!done) {
        const Generation g = store_->generation(call_, kCorpus).value();
        const Vector asked = axis(0);
        const auto hits = store_->search(call_, query(asked, g, 1000));
        if (!hits || hits->size() != static_cast<std::size_t>(g)) ++wrong;
        ++reads;
      }
    });
  }
  for (Generation g = 2; g <= 100; ++g) {
    // Some reads between any two steps, so that both sides really overlap.
    for (const int before = reads; reads < before + 3;) std::this_thread::yield();
    apply({g - 1, g, {row(10 * g, g, {axis(0)}), row(10 * g + 1, g, {axis(1)})}, {{{g == 2 ? 1 : 10 * (g - 1)}, g}}});
  }
  done = true;
  for (auto& reader : readers) reader.join();
  EXPECT_EQ(wrong, 0);
}

// Each distance has another nearest vector: the longest, the closest, or the one with the smallest sum of differences.
TEST_P(VectorStoreContract, ASpaceMeasuresByItsDistance) {
  struct Case {
    Distance distance;
    Found order;
    double best;
  };
  const auto at = [](float x, float y) {
    Vector out(kDimension, 0.0F);
    out[0] = x, out[1] = y;
    return out;
  };
  const Case cases[] = {{Distance::kCosine, {1, 4, 2, 3, 5}, 1.0},
                        {Distance::kDot, {1, 3, 2, 4, 5}, 10.0},
                        {Distance::kEuclid, {2, 4, 5, 3, 1}, -std::sqrt(0.18)},
                        {Distance::kManhattan, {4, 2, 5, 3, 1}, -0.5}};
  for (const Case& each : cases) {
    ASSERT_TRUE(store_->drop(call_, kCorpus).has_value());
    IndexChanges changes{0, 1, {}, {}};
    changes.distance = each.distance;
    changes.added = {row(1, 1, {at(10, 0)}), row(2, 1, {at(0.7F, 0.3F)}), row(3, 1, {at(3, 3)}), row(4, 1, {at(0.5F, 0)}),
                     row(5, 1, {at(0, 0)})};
    if (each.distance == Distance::kCosine) changes.added.back().vectors = {at(-1, 0)};
    changes.added[3].vectors = {each.distance == Distance::kCosine ? at(1, 0) : at(0.5F, 0), axis(7)};
    apply(changes);
    EXPECT_EQ(found(at(1, 0), 1), each.order) << static_cast<int>(each.distance);
    const auto hits = store_->search(call_, query(at(1, 0), 1)).value();
    EXPECT_NEAR(hits[0].score, each.best, 1e-5) << static_cast<int>(each.distance);
    const ChunkId chunks[] = {{hits[0].chunk}, {99}};
    const auto scores = store_->score(call_, query(at(1, 0), 1), chunks).value();
    EXPECT_NEAR(scores[0], each.best, 1e-5);
    const bool counts_down = each.distance == Distance::kEuclid || each.distance == Distance::kManhattan;
    EXPECT_EQ(scores[1], counts_down ? -std::numeric_limits<double>::infinity() : 0.0);
  }
}

TEST_P(VectorStoreContract, FurtherSpacesAreSearchedByTheirNamesAlone) {
  IndexChanges changes{0, 1, {}, {}};
  changes.named_spaces = {{"image", 2, Distance::kDot}, {"empty", 3, Distance::kEuclid}};
  changes.added = {row(1, 1, {axis(0)}), row(2, 1, {}), row(3, 1, {axis(1)})};
  changes.added[0].named_vectors["image"] = {{1, 0}};
  changes.added[1].named_vectors["image"] = {{0, 1}, {5, 0}};
  apply(changes);
  const auto in = [&](std::string_view space, const Vector& vector, Generation generation) {
    VectorQuery asked = query(vector, generation);
    asked.space = space;
    return store_->search(call_, asked);
  };
  const auto found_in = [&](std::string_view space, const Vector& vector, Generation generation = 1) {
    Found out;
    const auto hits = in(space, vector, generation);
    EXPECT_TRUE(hits.has_value()) << hits.error().message;
    if (hits) std::transform(hits->begin(), hits->end(), std::back_inserter(out), [](const ScoredChunk& hit) { return hit.chunk.value; });
    return out;
  };
  EXPECT_EQ(found(axis(0), 1), (Found{1, 3})) << "a row without vectors in the corpus's own space is not in it";
  EXPECT_EQ(found_in("image", {1, 0}), (Found{2, 1})) << "by dot product, the best window counts";
  EXPECT_EQ(found_in("image", {0, 1}), (Found{2, 1}));
  EXPECT_EQ(found_in("empty", {1, 0, 0}), Found{});
  EXPECT_EQ(in("video", {1, 0}, 1).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(in("image", axis(0), 1).error().code, ErrorCode::kFailedPrecondition) << "another dimension";
  const ChunkId chunks[] = {{2}, {3}};
  const Vector asked{1, 0};
  VectorQuery scored = query(asked, 1);
  scored.space = "image";
  EXPECT_EQ(store_->score(call_, scored, chunks).value(), (std::vector<double>{5, 0}));
  scored.space = "video";
  EXPECT_EQ(store_->score(call_, scored, chunks).error().code, ErrorCode::kNotFound);

  IndexChanges next{1, 2, {row(4, 2, {})}, {{{2}, 2}}};
  next.named_spaces = changes.named_spaces;
  next.added[0].named_vectors["image"] = {{2, 0}};
  next.added[0].named_vectors["empty"] = {{1, 0, 0}};
  apply(next);
  EXPECT_EQ(found_in("image", {1, 0}, 1), (Found{2, 1}));
  EXPECT_EQ(found_in("image", {1, 0}, 2), (Found{4, 1}));
  EXPECT_EQ(found_in("empty", {1, 0, 0}, 2), Found{4});
}

TEST_P(VectorStoreContract, SpacesThatDoNotFitAreRefusedAndChangeNothing) {
  IndexChanges first{0, 1, {row(1, 1, {axis(0)})}, {}};
  first.named_spaces = {{"image", 2, Distance::kDot}};
  apply(first);
  const auto code = [&](const std::function<void(IndexChanges&)>& spoil) {
    IndexChanges changes{1, 2, {row(2, 2, {axis(1)})}, {{{1}, 2}}};
    changes.named_spaces = first.named_spaces;
    spoil(changes);
    const auto done = store_->apply(call_, kCorpus, changes);
    return done ? ErrorCode::kInternal : done.error().code;
  };
  EXPECT_EQ(code([](IndexChanges& changes) { changes.added[0].named_vectors["image"] = {{1, 2, 3}}; }), ErrorCode::kFailedPrecondition);
  EXPECT_EQ(code([](IndexChanges& changes) { changes.added[0].named_vectors["video"] = {{1, 2}}; }), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code([](IndexChanges& changes) { changes.distance = Distance::kDot; }), ErrorCode::kFailedPrecondition);
  EXPECT_EQ(code([](IndexChanges& changes) { changes.named_spaces[0].distance = Distance::kEuclid; }), ErrorCode::kFailedPrecondition);
  EXPECT_EQ(code([](IndexChanges& changes) { changes.named_spaces[0].dimension = 3; }), ErrorCode::kFailedPrecondition);
  EXPECT_EQ(found(axis(0), 1), Found{1});
  EXPECT_EQ(store_->generation(call_, kCorpus).value(), 1);
}

TEST_P(VectorStoreContract, ASearchReportsWhatItDid) {
  apply({0, 1, {row(1, 1, {axis(0)}), row(2, 1, {axis(1)})}, {}});
  VectorSearchReport report;
  const Vector asked = axis(0);
  VectorQuery reported = query(asked, 1);
  reported.report = &report;
  ASSERT_TRUE(store_->search(call_, reported).has_value());
  EXPECT_FALSE(report.plan.empty());
  EXPECT_EQ(report.scanned, 2U);
  EXPECT_GE(report.rescored, 1U);
}

TEST_P(VectorStoreContract, ScoringKeepsToTheRulesOfSearching) {
  apply({0, 1, {row(1, 1, {axis(0)})}, {}});
  const ChunkId chunks[] = {{1}};
  const Vector asked = axis(0), other{1, 0};
  EXPECT_EQ(store_->score(call_, query(asked, 2), chunks).error().code, ErrorCode::kFailedPrecondition);
  EXPECT_EQ(store_->score(call_, query(other, 1), chunks).error().code, ErrorCode::kFailedPrecondition);
  EXPECT_TRUE(store_->score(call_, query(asked, 1), {}).value().empty());
}

TEST_P(VectorStoreContract, ACallThatIsOverEndsAndChangesNothing) {
  const Vector asked = axis(0);
  const ChunkId chunks[] = {{1}};
  const IndexChanges changes{0, 1, {row(1, 1, {axis(0)})}, {}};
  const auto late = CallContext::with_timeout(std::chrono::milliseconds{-1});
  EXPECT_EQ(store_->search(contract::stopped_call(), query(asked, 0)).error().code, ErrorCode::kCancelled);
  EXPECT_EQ(store_->search(late, query(asked, 0)).error().code, ErrorCode::kDeadlineExceeded);
  EXPECT_EQ(store_->score(contract::stopped_call(), query(asked, 0), chunks).error().code, ErrorCode::kCancelled);
  EXPECT_EQ(store_->apply(contract::stopped_call(), kCorpus, changes).error().code, ErrorCode::kCancelled);
  EXPECT_EQ(store_->apply(late, kCorpus, changes).error().code, ErrorCode::kDeadlineExceeded);
  EXPECT_EQ(store_->generation(call_, kCorpus).value(), 0);
}

}  // namespace footnote
