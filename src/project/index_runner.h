#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <thread>

#include "base/clock.h"
#include "base/mutex.h"
#include "ports/project_store.h"
#include "project/indexer.h"

namespace footnote::project {

/// Projects that wait to be indexed; more are kResourceExhausted.
inline constexpr std::size_t kIndexQueueMax = 64;
inline constexpr std::chrono::hours kIndexTimeMax{2};

/// One run of the index over a project.
struct IndexJob {
  enum class State { kQueued, kRunning, kDone, kFailed };
  std::string id;
  State state = State::kQueued;
  std::string problem;  ///< kFailed: for people.
  IndexReport report;   ///< kDone.
  UtcTime queued_at;
  std::optional<UtcTime> ended_at;
};

/// "queued", "running", "done", "failed"
std::string_view to_string(IndexJob::State state);

/// Indexes projects one after another on its own thread. Jobs are not durable: a drift scan or the next call repeats what a restart
/// interrupted, and unchanged files cost nothing. Thread-safe; borrows its ports.
class IndexRunner {
 public:
  IndexRunner(const Indexer& indexer, ProjectStore& projects, const Clock& clock);
  ~IndexRunner();

  /// Queues a run. A project that is queued or running keeps its job: a second call joins it.
  Result<IndexJob> start(const Project& project);
  /// The project's newest job; nullopt if it had none since the start of the program.
  std::optional<IndexJob> last(ProjectId project) const;

 private:
  void work(std::stop_token stop);
  void run(const Project& project, std::stop_token stop);

  const Indexer& indexer_;
  ProjectStore& projects_;
  const Clock& clock_;
  mutable Mutex mutex_;
  CondVar changed_;
  std::deque<Project> queue_ FOOTNOTE_TSA(guarded_by(mutex_));
  std::map<ProjectId, IndexJob> jobs_ FOOTNOTE_TSA(guarded_by(mutex_));
  bool stopping_ FOOTNOTE_TSA(guarded_by(mutex_)) = false;
  std::jthread thread_;  // The last member: it uses the others.
};

}  // namespace footnote::project
