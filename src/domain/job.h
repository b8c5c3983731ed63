#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "domain/ids.h"

namespace footnote {

using JobId = Id<struct JobTag>;

/// Jobs that wait in one workspace; more are refused.
inline constexpr std::size_t kJobsWaitingMax = 1'000;
/// Jobs kept in one workspace after their end; older ones are forgotten.
inline constexpr std::size_t kJobsKeptMax = 1'000;
/// Errors listed by one job; the others are counted.
inline constexpr std::size_t kJobErrorsMax = 100;
inline constexpr std::size_t kJobInputBytesMax = 64u << 10;
/// A job that was begun this often and never ended fails: something in it ends the process.
inline constexpr int kJobAttemptsMax = 5;

enum class JobState { kQueued, kRunning, kDone, kFailed, kCancelled };
inline constexpr JobState kAllJobStates[] = {JobState::kQueued, JobState::kRunning, JobState::kDone, JobState::kFailed,
                                             JobState::kCancelled};

/// "queued", "running", "done", "failed", "cancelled"
std::string_view to_string(JobState state);
std::optional<JobState> parse_job_state(std::string_view name);
/// Whether it can change no more.
constexpr bool has_ended(JobState state) { return state != JobState::kQueued && state != JobState::kRunning; }

/// A document that could not be ingested.
struct JobError {
  std::string path;
  std::string reason;

  bool operator==(const JobError&) const = default;
};

/// How far a job is. Bytes, not documents: a PDF of 400 pages is no page of ten lines.
struct JobProgress {
  std::int64_t done = 0;
  std::int64_t total = 0;  ///< 0: not known yet. May grow while a site is explored.
  std::string unit = "bytes";
  std::int64_t added = 0;
  std::int64_t updated = 0;
  std::int64_t unchanged = 0;
  std::int64_t deleted = 0;
  std::int64_t failed = 0;
  std::vector<JobError> errors = {};             ///< The first kJobErrorsMax.
  std::optional<std::int64_t> eta_seconds = {};  ///< Nullopt: not known.

  void add_error(std::string path, std::string reason);
  bool operator==(const JobProgress&) const = default;
};

/// Work that outlives the request that asked for it.
struct Job {
  JobId id;
  WorkspaceId workspace;
  CorpusId corpus;
  SourceId source;    ///< None: the job belongs to no source.
  std::string kind;   ///< "sync", "drift", "upload": chooses the handler.
  std::string input;  ///< What the handler needs beside the source; its own format.
  JobState state = JobState::kQueued;
  JobProgress progress = {};
  std::string error = {};  ///< Why it failed, or why it waits for another try.
  int attempts = 0;        ///< How often it was begun.
  UtcTime created_at = {};
  UtcTime due_at = {};  ///< Not begun before.
  std::optional<UtcTime> started_at = {};
  std::optional<UtcTime> finished_at = {};
};

}  // namespace footnote
