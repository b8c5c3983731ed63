#include "ingest/folder_watch.h"

#include <gtest/gtest.h>

#include "support/temp_folder.h"

namespace footnote::ingest {
namespace {

using footnote::test::TempFolder;

class FolderWatchTest : public testing::Test {
 protected:
  /// Whether the watch tells of a change; waits for it if one is expected.
  static bool tells(FolderWatch& watch) { return watch.wait(CallContext::with_timeout(std::chrono::seconds{20})).has_value(); }
  /// Nothing more is to come of what happened.
  static bool is_silent(FolderWatch& watch) { return !watch.wait(CallContext::with_timeout(2 * kWatchQuiet)).has_value(); }

  const TempFolder folder_;
};

TEST_F(FolderWatchTest, TellsOfEveryKindOfChange) {
  folder_.write("sub/deep/a.md", "a");
  FolderWatch watch = FolderWatch::open(folder_.path()).value();
  EXPECT_EQ(watch.folders(), 3U);
  EXPECT_TRUE(is_silent(watch));
  folder_.write("sub/deep/a.md", "b");
  EXPECT_TRUE(tells(watch));
  std::filesystem::rename(folder_.path() / "sub/deep/a.md", folder_.path() / "sub/b.md");
  EXPECT_TRUE(tells(watch));
  folder_.remove("sub/b.md");
  EXPECT_TRUE(tells(watch));
  EXPECT_TRUE(is_silent(watch));
}

TEST_F(FolderWatchTest, NewFoldersAreWatched) {
  FolderWatch watch = FolderWatch::open(folder_.path()).value();
  folder_.write("new/deep/a.md", "a");
  EXPECT_TRUE(tells(watch));
  EXPECT_EQ(watch.folders(), 3U);
  folder_.write("new/deep/a.md", "b");
  EXPECT_TRUE(tells(watch));
  folder_.remove("new");
  EXPECT_TRUE(tells(watch));
  EXPECT_EQ(watch.folders(), 1U);
}

TEST_F(FolderWatchTest, ManyChangesAreOne) {
  FolderWatch watch = FolderWatch::open(folder_.path()).value();
  for (int i = 0; i < 100; ++i) folder_.write("f" + std::to_string(i) + ".md", "x");
  EXPECT_TRUE(tells(watch));
  EXPECT_TRUE(is_silent(watch));
}

TEST_F(FolderWatchTest, IgnoredNamesAreNotWatched) {
  folder_.write(".git/HEAD", "x");
  folder_.write("node_modules/a/b.md", "x");
  FolderWatch watch = FolderWatch::open(folder_.path()).value();
  EXPECT_EQ(watch.folders(), 1U);
  folder_.write(".hidden", "x");
  folder_.write("node_modules/a/b.md", "y");
  EXPECT_TRUE(is_silent(watch));
  folder_.write(".footnoteignore", "a.md\n");
  EXPECT_TRUE(tells(watch)) << "it decides what is read";
}

TEST_F(FolderWatchTest, ASingleFileIsWatchedAlone) {
  folder_.write("a.md", "x");
  FolderWatch watch = FolderWatch::open(folder_.path() / "a.md").value();
  folder_.write("b.md", "x");
  EXPECT_TRUE(is_silent(watch));
  folder_.write("a.md", "y");
  EXPECT_TRUE(tells(watch));
}

TEST_F(FolderWatchTest, WhatIsNotThereIsNotWatched) {
  EXPECT_EQ(FolderWatch::open(folder_.path() / "none").error().code, ErrorCode::kNotFound);
}

TEST_F(FolderWatchTest, BeyondTheLimitItLooksNowAndThen) {
  for (std::size_t i = 0; i < kWatchedFoldersMax + 5; ++i) std::filesystem::create_directory(folder_.path() / ("d" + std::to_string(i)));
  FolderWatch watch = FolderWatch::open(folder_.path()).value();
  EXPECT_FALSE(watch.sees_all());
  EXPECT_LE(watch.folders(), kWatchedFoldersMax);
  const auto now = std::chrono::steady_clock::now();
  EXPECT_FALSE(watch.is_due(now));
  EXPECT_TRUE(watch.is_due(now + kWatchFallback + std::chrono::seconds{1}));
}

}  // namespace
}  // namespace footnote::ingest
