#include "cli/progress.h"

#include <gtest/gtest.h>

namespace footnote::cli {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(RenderProgress, CountsRateAndTimeLeft) {
  EXPECT_EQ(render_progress({.done = 312, .total = 1000, .per_second = 43, .unit = "files", .width = 100}),
            "[#######-----------------] 312/1000 files  43 files/s  16 s left");
  EXPECT_EQ(render_progress({.done = 0, .total = 4, .per_second = 0, .unit = "files", .width = 100}),
            "[------------------------] 0/4 files");
  EXPECT_EQ(render_progress({.done = 4, .total = 4, .per_second = 2.5, .unit = "files", .width = 100}),
            "[########################] 4/4 files  2.5 files/s");
}

TEST(RenderProgress, UnknownTotalShowsTheCount) {
  EXPECT_EQ(render_progress({.done = 17, .total = 0, .per_second = 0, .unit = "files", .width = 80}), "17 files");
  EXPECT_EQ(render_progress({.done = 0, .total = 0, .per_second = 0, .unit = "files", .width = 80}), "looking for files ...");
}

TEST(RenderProgress, MoreDoneThanTotalStaysInsideTheBar) {
  EXPECT_EQ(render_progress({.done = 9, .total = 4, .per_second = 0, .unit = "x", .width = 80}), "[########################] 9/4 x");
}

TEST(RenderProgress, NeverWiderThanTheTerminal) {
  EXPECT_EQ(render_progress({.done = 1, .total = 2, .per_second = 1, .unit = "files", .width = 30}).size(), 29U);
}

TEST(HumanDuration, Units) {
  EXPECT_EQ(human_duration(seconds{16}), "16 s");
  EXPECT_EQ(human_duration(seconds{185}), "3 min 5 s");
  EXPECT_EQ(human_duration(seconds{7800}), "2 h 10 min");
}

/// A bar with a manual clock.
struct Watched {
  std::chrono::steady_clock::time_point now{};
  std::string written;
  int writes = 0;
  ProgressBar bar{"files", 100,
                  [this](std::string_view text) {
                    written = text;
                    ++writes;
                  },
                  [this] { return now; }};
};

TEST(ProgressBar, DrawsAtMostTenTimesASecond) {
  Watched w;
  for (std::uint64_t i = 0; i < 1000; ++i, w.now += milliseconds{1}) w.bar.update(i, 2000);
  EXPECT_EQ(w.writes, 10);
}

TEST(ProgressBar, TheLastUpdateIsAlwaysDrawn) {
  Watched w;
  w.bar.update(1, 2);
  w.bar.update(2, 2);
  EXPECT_NE(w.written.find("2/2 files"), std::string::npos);
}

TEST(ProgressBar, RateIsOfTheLastTenSeconds) {
  Watched w;
  std::uint64_t done = 0;
  for (int second = 0; second < 60; ++second, w.now += seconds{1}) w.bar.update(done += 100, 100'000);
  for (int second = 0; second < 60; ++second, w.now += seconds{1}) w.bar.update(done += 20, 100'000);
  EXPECT_NE(w.written.find("  20 files/s"), std::string::npos) << w.written;
}

TEST(ProgressBar, ClearsItsLine) {
  Watched w;
  w.bar.update(1, 2);
  w.bar.clear();
  EXPECT_EQ(w.written, "\r\x1b[K");
}

TEST(ProgressBar, WithoutAWriterItIsSilent) {
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  {
    ProgressBar bar("files", 80, {});
    bar.update(1, 2);
    bar.clear();
  }
  EXPECT_EQ(::testing::internal::GetCapturedStdout() + ::testing::internal::GetCapturedStderr(), "");
}

}  // namespace
}  // namespace footnote::cli
