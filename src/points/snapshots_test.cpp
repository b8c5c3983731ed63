#include "points/snapshots.h"

#include <gtest/gtest.h>

#include "fakes/memory_store.h"
#include "fakes/memory_vector_store.h"
#include "support/temp_folder.h"

namespace footnote::points {
namespace {

TEST(SnapshotsTest, ACollectionHasAFewAtMost) {
  ManualClock clock(UtcTime{std::chrono::hours{24}});
  fakes::MemoryStore store(clock);
  fakes::MemoryVectorStore vectors;
  ingest::IndexSync sync(store, {&vectors}, clock);
  const PointSearch search(store, vectors);
  PointWriter writer({store, store, store, sync}, search);
  const test::TempFolder folder;
  const Snapshots snapshots(folder.path(), store, writer, clock);
  const WorkspaceId workspace = store.find_workspace({}, kDefaultWorkspace).value().id;
  const Collection collection{.corpus = store.ensure_corpus({}, workspace, "points", {"given", 2}).value(), .config = "{}"};

  std::string last;
  for (std::size_t i = 0; i < kSnapshotsPerCollectionMax; ++i) {
    const auto made = snapshots.create({}, collection);
    ASSERT_TRUE(made.has_value()) << made.error().message;
    last = made->name;
  }
  EXPECT_EQ(snapshots.create({}, collection).error().code, ErrorCode::kFailedPrecondition);
  ASSERT_TRUE(snapshots.remove(workspace, "points", last).has_value());
  EXPECT_TRUE(snapshots.create({}, collection).has_value());
}

}  // namespace
}  // namespace footnote::points
