#include "points/point_writer.h"

#include <gtest/gtest.h>

#include "fakes/memory_store.h"
#include "fakes/memory_vector_store.h"

namespace footnote::points {
namespace {

class PointWriterTest : public testing::Test {
 protected:
  /// Adds points 0 to count - 1, and sets `payload` in all of them by an operation of its own for each.
  Result<Generation> set_in(std::size_t count, const JsonObject& payload, std::size_t work_max = 0) {
    const PointSearch search(store_, vectors_, work_max);
    PointWriter writer({store_, store_, store_, sync_}, search);
    const WorkspaceId workspace = store_.find_workspace({}, kDefaultWorkspace).value().id;
    const Corpus corpus = store_.ensure_corpus({}, workspace, "points", {"given", 2}).value();
    Upsert upsert;
    std::vector<PointOperation> changes;
    for (std::uint64_t i = 0; i < count; ++i) {
      upsert.points.push_back({.id = {i}, .vectors = {{"", {1, 0}}}, .payload = {}});
      changes.emplace_back(SetPayload{.points = std::vector<PointId>{{i}}, .payload = payload, .at = {}});
    }
    const std::vector<PointOperation> added = {upsert};
    FOOTNOTE_CHECK(writer.apply({}, corpus.id, added));
    return writer.apply({}, corpus.id, changes);
  }

  /// Its text has `bytes` bytes.
  static JsonObject payload_of(std::size_t bytes) { return {{"a", std::string(bytes - std::string_view(R"({"a":""})").size(), 'x')}}; }

  ManualClock clock_{UtcTime{std::chrono::hours{24}}};
  fakes::MemoryStore store_{clock_};
  fakes::MemoryVectorStore vectors_;
  ingest::IndexSync sync_{store_, {&vectors_}, clock_};
};

TEST_F(PointWriterTest, CopiesOfAPayloadHaveABound) {
  constexpr std::size_t kPoints = 32;
  EXPECT_TRUE(set_in(kPoints, payload_of(kPayloadCopiesBytesMax / kPoints)).has_value());
  const auto over = set_in(kPoints, payload_of(kPayloadCopiesBytesMax / kPoints + 1));
  ASSERT_FALSE(over.has_value());
  EXPECT_EQ(over.error().code, ErrorCode::kTooLarge);
  EXPECT_EQ(over.error().field, "payload");
}

TEST_F(PointWriterTest, ChangingPointsIsWork) {
  constexpr std::size_t kWork = 1000;
  EXPECT_TRUE(set_in(10, {{"a", 1}}, kWork).has_value());
  EXPECT_EQ(set_in(11, {{"a", 1}}, kWork).error().code, ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace footnote::points
