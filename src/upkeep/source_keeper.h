#pragma once

#include <functional>
#include <map>
#include <string>
#include <thread>

#include "base/clock.h"
#include "ingest/folder_watch.h"
#include "ports/job_store.h"
#include "ports/source_store.h"

namespace footnote::upkeep {

/// Watched folders of one process; the others are synced by schedule alone.
inline constexpr std::size_t kWatchedSourcesMax = 64;
/// Sources queued in one round.
inline constexpr std::size_t kSourcesDueMax = 100;

/// Queues syncs: of sources whose schedule is due, of watched folders that changed, and from time to time of everything, without trusting
/// what is known of the files (drift scan). One thread; nothing waits for it.
class SourceKeeper {
 public:
  struct Ports {
    SourceStore& sources;
    JobStore& jobs;
    const Clock& clock;
    std::function<Result<Job>(const CallContext&, const SourceRecord&, bool drift)> queue;  ///< And wakes the workers.
  };
  struct Options {
    std::chrono::milliseconds drift_every{0};     ///< 0: never.
    std::chrono::milliseconds look_every{1'000};  ///< How often the store is asked for sources.
  };

  /// Everything is borrowed. Idle until start().
  SourceKeeper(Ports ports, Options options) : ports_(std::move(ports)), options_(options) {}
  ~SourceKeeper() { stop(); }

  void start();
  void stop();
  /// One round: what is due by schedule or drift. For the thread and for tests.
  void look(const CallContext& call);

 private:
  void run(const std::stop_token& stop);
  void update_watches(const CallContext& call);
  void queue(const CallContext& call, const SourceRecord& source, bool drift);
  /// Waits for events or until the next round.
  void wait(const std::stop_token& stop, std::chrono::steady_clock::time_point until);

  struct Watched {
    SourceRecord source;
    ingest::FolderWatch watch;
  };

  const Ports ports_;
  const Options options_;
  std::map<SourceId, Watched> watched_;
  std::map<SourceId, std::string> unwatched_;  ///< Folders that can't be watched, and why: reported once.
  std::chrono::steady_clock::time_point drift_at_ = {};
  std::jthread thread_;
};

}  // namespace footnote::upkeep
