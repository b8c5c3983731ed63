#include "project/index_runner.h"

#include "base/ids.h"

namespace footnote::project {

namespace {

/// For callers of the server: without the operator's paths.
std::string problem_of(const Error& error) {
  if (!error.public_message.empty()) return error.public_message;
  const bool names_root =
      error.code == ErrorCode::kNotFound || error.code == ErrorCode::kPermissionDenied || error.code == ErrorCode::kInvalidArgument;
  return names_root ? "its root is no folder that can be read" : error.message;
}

}  // namespace

std::string_view to_string(IndexJob::State state) {
  switch (state) {
    case IndexJob::State::kQueued: return "queued";
    case IndexJob::State::kRunning: return "running";
    case IndexJob::State::kDone: return "done";
    case IndexJob::State::kFailed: return "failed";
  }
  return "";
}

IndexRunner::IndexRunner(const Indexer& indexer, ProjectStore& projects, const Clock& clock)
    : indexer_(indexer), projects_(projects), clock_(clock), thread_([this](std::stop_token stop) { work(std::move(stop)); }) {}

IndexRunner::~IndexRunner() {
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
  }
  thread_.request_stop();
  changed_.notify_all();
}

Result<IndexJob> IndexRunner::start(const Project& project) {
  const MutexLock lock(mutex_);
  const auto known = jobs_.find(project.id);
  const bool open =
      known != jobs_.end() && (known->second.state == IndexJob::State::kQueued || known->second.state == IndexJob::State::kRunning);
  if (open) return known->second;
  if (queue_.size() >= kIndexQueueMax) {
    return fail(ErrorCode::kResourceExhausted, "{} projects wait to be indexed: try again later", kIndexQueueMax);
  }
  queue_.push_back(project);
  jobs_[project.id] = {.id = "job_" + random_base62(16), .queued_at = clock_.now()};
  changed_.notify_all();
  return jobs_[project.id];
}

std::optional<IndexJob> IndexRunner::last(ProjectId project) const {
  const MutexLock lock(mutex_);
  const auto found = jobs_.find(project);
  return found == jobs_.end() ? std::nullopt : std::optional(found->second);
}

void IndexRunner::work(std::stop_token stop) {
  while (true) {
    Project project;
    {
      MutexLock lock(mutex_);
      while (queue_.empty() && !stopping_) changed_.wait(lock);
      if (stopping_) return;
      project = queue_.front();
      queue_.pop_front();
      jobs_[project.id].state = IndexJob::State::kRunning;
    }
    run(project, stop);
  }
}

void IndexRunner::run(const Project& project, std::stop_token stop) {
  CallContext call = CallContext::with_timeout(kIndexTimeMax);
  call.stop = std::move(stop);
  auto done = indexer_.index(call, project);
  // The row may have changed or be gone meanwhile.
  if (auto current = projects_.project(call, project.workspace, project.slug); current && current->id == project.id) {
    current->status = done ? ProjectStatus::kReady : ProjectStatus::kFailed;
    current->problem = done ? "" : problem_of(done.error());
    if (done) {
      current->indexed_at = clock_.now();
      current->language = done->language;
      current->framework = done->framework;
    }
    static_cast<void>(projects_.save_project(call, *current));
  }
  const MutexLock lock(mutex_);
  IndexJob& record = jobs_[project.id];
  record.state = done ? IndexJob::State::kDone : IndexJob::State::kFailed;
  record.ended_at = clock_.now();
  if (done) {
    record.report = *std::move(done);
  } else {
    record.problem = problem_of(done.error());
  }
}

}  // namespace footnote::project
