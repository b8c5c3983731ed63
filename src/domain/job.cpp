#include "domain/job.h"

namespace footnote {

std::string_view to_string(JobState state) {
  switch (state) {
    case JobState::kQueued: return "queued";
    case JobState::kRunning: return "running";
    case JobState::kDone: return "done";
    case JobState::kFailed: return "failed";
    case JobState::kCancelled: return "cancelled";
  }
  return "";
}

std::optional<JobState> parse_job_state(std::string_view name) {
  for (const JobState state : kAllJobStates) {
    if (to_string(state) == name) return state;
  }
  return std::nullopt;
}

void JobProgress::add_error(std::string path, std::string reason) {
  ++failed;
  if (errors.size() < kJobErrorsMax) errors.push_back({std::move(path), std::move(reason)});
}

}  // namespace footnote
