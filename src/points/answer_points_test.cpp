#include "points/answer_points.h"

#include <gtest/gtest.h>

#include "fakes/memory_store.h"
#include "fakes/memory_vector_store.h"
#include "points/point_writer.h"

namespace footnote::points {
namespace {

class AnswerPointsTest : public testing::Test {
 protected:
  /// Adds points 0 to count - 1, whose payloads have `bytes` bytes.
  void add(std::uint64_t count, std::size_t bytes) {
    PointWriter writer({store_, store_, store_, sync_}, search_);
    Upsert upsert;
    for (std::uint64_t i = 0; i < count; ++i) {
      ids_.push_back({i});
      upsert.points.push_back(
          {.id = {i}, .vectors = {{"", {1, 0}}}, .payload = {{"a", std::string(bytes - std::string_view(R"({"a":""})").size(), 'x')}}});
    }
    const std::vector<PointOperation> operations = {upsert};
    ASSERT_TRUE(writer.apply({}, corpus().id, operations).has_value());
  }
  Corpus corpus() {
    const WorkspaceId workspace = store_.find_workspace({}, kDefaultWorkspace).value().id;
    return store_.ensure_corpus({}, workspace, "points", {"given", 2}).value();
  }

  ManualClock clock_{UtcTime{std::chrono::hours{24}}};
  fakes::MemoryStore store_{clock_};
  fakes::MemoryVectorStore vectors_;
  ingest::IndexSync sync_{store_, {&vectors_}, clock_};
  PointSearch search_{store_, vectors_};
  std::vector<PointId> ids_;
};

TEST_F(AnswerPointsTest, PointsComeInOrderWhateverTheirNumber) {
  add(100, 20);
  Work work(0);
  const auto named = read_points(store_, {}, corpus().id, ids_, PointVectors::kLeftOut, work);
  const auto scrolled = scroll_points(store_, {}, corpus().id, PointId{std::uint64_t{3}}, 70, PointVectors::kLeftOut, work);
  ASSERT_EQ(named->size(), 100u);
  ASSERT_EQ(scrolled->size(), 70u);
  for (std::size_t i = 0; i < 100; ++i) EXPECT_EQ((*named)[i].id, ids_[i]);
  for (std::size_t i = 0; i < 70; ++i) EXPECT_EQ((*scrolled)[i].id, ids_[i + 3]);
  EXPECT_EQ(scroll_points(store_, {}, corpus().id, std::nullopt, 1'000, PointVectors::kLeftOut, work)->size(), 100u);
}

TEST_F(AnswerPointsTest, AnAnswerHasABoundOfMemory) {
  add(1, 500'000);
  const std::size_t bytes = held_bytes(store_.points({}, corpus().id, ids_, PointVectors::kRead).value().front());
  EXPECT_GE(bytes, 1'000'000u);
  const std::vector<PointId> fits(kAnswerBytesMax / bytes, ids_[0]);
  const std::vector<PointId> over(fits.size() + 1, ids_[0]);
  Work work(0);
  EXPECT_TRUE(read_points(store_, {}, corpus().id, fits, PointVectors::kRead, work).has_value());
  Work other(0);
  EXPECT_EQ(read_points(store_, {}, corpus().id, over, PointVectors::kRead, other).error().code, ErrorCode::kTooLarge);
  // The searches of one request share the bound.
  EXPECT_EQ(read_points(store_, {}, corpus().id, ids_, PointVectors::kRead, work).error().code, ErrorCode::kTooLarge);
}

}  // namespace
}  // namespace footnote::points
