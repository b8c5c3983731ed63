#include "providers/local/vector_graphs.h"

#include <gtest/gtest.h>

#include <random>
#include <thread>

namespace footnote {
namespace {

constexpr CorpusId kCorpus{1};
constexpr std::size_t kDimension = 8;
// Just enough that a segment is not merged any more.
constexpr std::size_t kVectors = 10'930;

IndexRow row_of(std::int64_t chunk, Generation born, std::mt19937& random) {
  std::normal_distribution<float> normal;
  IndexRow row;
  row.chunk = {chunk};
  row.document = {chunk};
  row.born = born;
  row.vectors.emplace_back(kDimension);
  for (float& value : row.vectors[0]) value = normal(random);
  return row;
}

TEST(VectorGraphs, SearchesAndWritesGoOnWhileAGraphIsMadeAndPutInPlace) {
  std::mt19937 random(11);
  IndexChanges first{.from = 0, .to = 1, .added = {}, .removed = {}};
  for (std::size_t i = 0; i < kVectors; ++i) first.added.push_back(row_of(static_cast<std::int64_t>(i + 1), 1, random));
  const std::vector<float> asked = first.added[77].vectors[0];
  LocalVectorStore vectors;
  ASSERT_TRUE(vectors.apply({}, kCorpus, first).has_value());

  std::atomic<bool> over = false;
  std::atomic<std::uint64_t> wrong = 0;
  {
    std::vector<std::jthread> readers;
    for (int i = 0; i < 2; ++i) {
      readers.emplace_back([&] {
        while (!over) {
          const auto newest = vectors.generation({}, kCorpus);
          const auto found = vectors.search({}, {.corpus = kCorpus, .generation = *newest, .vector = asked, .limit = 3});
          if (!found || found->size() != 3 || found->front().chunk != ChunkId{78}) ++wrong;
        }
      });
    }
    readers.emplace_back([&] {
      // Each step adds one row and removes one of the first rows.
      for (Generation to = 2; !over; ++to) {
        IndexChanges step{.from = to - 1, .to = to, .added = {row_of(100'000 + to, to, random)}, .removed = {}};
        if (to <= 50) step.removed.push_back({{to}, to});
        if (!vectors.apply({}, kCorpus, step)) ++wrong;
        std::this_thread::sleep_for(std::chrono::milliseconds{2});
      }
    });
    EXPECT_EQ(vectors.make_graphs({}, kCorpus, kVectors).value_or(0), kVectors);
    EXPECT_EQ(vectors.graph_extent(kCorpus).rows, kVectors);
    EXPECT_TRUE(vectors.drop_graphs(kCorpus).has_value());
    over = true;
  }
  EXPECT_EQ(wrong, 0U);
}

}  // namespace
}  // namespace footnote
