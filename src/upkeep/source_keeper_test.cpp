#include "upkeep/source_keeper.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/mutex.h"
#include "fakes/memory_job_store.h"
#include "fakes/memory_source_store.h"
#include "fakes/memory_store.h"
#include "support/temp_folder.h"

namespace footnote::upkeep {
namespace {

using footnote::test::TempFolder;
using testing::ElementsAre;
using testing::IsEmpty;

class SourceKeeperTest : public testing::Test {
 protected:
  SourceRecord add(std::string location, std::chrono::seconds interval, bool watch = false) {
    SourceSpec spec{.corpus = corpus_.id, .kind = SourceKind::kFolder, .location = std::move(location)};
    spec.interval = interval;
    spec.watch = watch;
    return sources_.put({}, spec).value().record;
  }
  std::vector<std::string> queued() {
    MutexLock lock(mutex_);
    return std::exchange(queued_, {});
  }
  /// Waits until something is queued.
  std::vector<std::string> next_queued() {
    for (;;) {
      if (auto out = queued(); !out.empty()) return out;
      std::this_thread::sleep_for(std::chrono::milliseconds{2});
    }
  }
  SourceKeeper::Ports ports() {
    return {.sources = sources_,
            .jobs = jobs_,
            .clock = clock_,
            .queue = [this](const CallContext&, const SourceRecord& source, bool drift) -> Result<Job> {
              MutexLock lock(mutex_);
              queued_.push_back((drift ? "drift " : "sync ") + source.spec.location);
              return Job{};
            }};
  }

  ManualClock clock_{UtcTime{std::chrono::hours{400'000}}};
  fakes::MemoryStore store_{clock_};
  fakes::MemoryJobStore jobs_{clock_};
  fakes::MemorySourceStore sources_{store_, &jobs_, clock_};
  Corpus corpus_ = store_.ensure_corpus({}, store_.find_workspace({}, kDefaultWorkspace).value().id, "docs", {"m", 4}).value();
  Mutex mutex_;
  std::vector<std::string> queued_;
};

TEST_F(SourceKeeperTest, ASourceIsSyncedWhenItIsDue) {
  add("/a", std::chrono::seconds{60});
  add("/b", std::chrono::seconds{0});
  SourceKeeper keeper(ports(), {});
  keeper.look({});
  EXPECT_THAT(queued(), IsEmpty());
  clock_.advance(std::chrono::seconds{60});
  keeper.look({});
  EXPECT_THAT(queued(), ElementsAre("sync /a"));
  keeper.look({});
  EXPECT_THAT(queued(), IsEmpty()) << "once each time";
  clock_.advance(std::chrono::seconds{61});
  keeper.look({});
  EXPECT_THAT(queued(), ElementsAre("sync /a"));
}

TEST_F(SourceKeeperTest, AWatchedFolderIsSyncedAtTheStartAndWhenItChanges) {
  const TempFolder folder;
  const SourceRecord source = add(folder.path().string(), std::chrono::seconds{0}, true);
  SourceKeeper keeper(ports(), {.look_every = std::chrono::milliseconds{10}});
  keeper.start();
  EXPECT_THAT(next_queued(), ElementsAre("sync " + folder.path().string()));
  folder.write("a.md", "x");
  EXPECT_THAT(next_queued(), ElementsAre("sync " + folder.path().string()));
  keeper.stop();
}

TEST_F(SourceKeeperTest, WatchedFoldersAreReadWholeFromTimeToTime) {
  add("/a", std::chrono::seconds{0}, true);
  SourceKeeper keeper(ports(), {.drift_every = std::chrono::milliseconds{1}});
  std::this_thread::sleep_for(std::chrono::milliseconds{2});
  keeper.look({});
  EXPECT_THAT(queued(), ElementsAre("drift /a"));
}

}  // namespace
}  // namespace footnote::upkeep
