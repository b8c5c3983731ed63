#include "upkeep/job_runner.h"

#include <algorithm>

#include "base/contained.h"
#include "base/log.h"
#include "upkeep/periodic.h"

namespace footnote::upkeep {
namespace {

constexpr std::chrono::seconds kSettleMax{10};

bool is_worth_another_try(ErrorCode code) {
  return code == ErrorCode::kUnavailable || code == ErrorCode::kDeadlineExceeded || code == ErrorCode::kResourceExhausted ||
         code == ErrorCode::kStorageFull;
}

/// What the job's owner may read.
const std::string& shown(const Error& error) { return error.public_message.empty() ? error.message : error.public_message; }

}  // namespace

/// A job at work. The beat stores its progress while the handler is silent.
struct JobRunner::Running {
  JobId id;
  std::string worker;
  std::stop_source stop;
  Mutex mutex = {};
  JobProgress progress FOOTNOTE_TSA(guarded_by(mutex)) = {};
  std::chrono::steady_clock::time_point noted FOOTNOTE_TSA(guarded_by(mutex)) = {};
  bool cancelled FOOTNOTE_TSA(guarded_by(mutex)) = false;

  /// Stores the progress, unless that was done within `pause`.
  Result<void> note(JobStore& jobs, const Clock& clock, const CallContext& call, std::chrono::milliseconds lease,
                    std::chrono::milliseconds pause) {
    MutexLock lock(mutex);
    if (cancelled) return fail(ErrorCode::kCancelled, "the job was cancelled");
    if (std::chrono::steady_clock::now() - noted < pause) return {};
    auto stored = jobs.note(call, id, worker, progress, clock.now() + lease);
    noted = std::chrono::steady_clock::now();
    const bool lost = !stored && (stored.error().code == ErrorCode::kCancelled || stored.error().code == ErrorCode::kFailedPrecondition);
    if (!lost) return {};  // a full disk or a busy store is no reason to stop
    cancelled = true;
    stop.request_stop();
    return fail(ErrorCode::kCancelled, "the job was cancelled");
  }
};

std::chrono::seconds job_retry_wait(int attempts) {
  constexpr std::chrono::seconds kFirst{5};
  constexpr std::chrono::seconds kLongest{600};
  constexpr int kDoublingsMax = 7;
  return std::min(kFirst * (1 << std::clamp(attempts - 1, 0, kDoublingsMax)), kLongest);
}

JobRunner::JobRunner(JobStore& jobs, const Clock& clock, Metrics& metrics, Handlers handlers, Options options)
    : jobs_(jobs), clock_(clock), metrics_(metrics), handlers_(std::move(handlers)), options_(std::move(options)) {}

JobRunner::~JobRunner() { stop(); }

void JobRunner::start() {
  // Series at 0, so that they can be monitored.
  metrics_.gauge("footnote_jobs_running", "Jobs at work");
  for (const auto& [kind, handler] : handlers_) {
    for (const std::string_view result : {"done", "failed", "cancelled", "postponed", "interrupted"}) count(kind, result, 0);
  }
  if (const auto taken = jobs_.abandon(CallContext::with_timeout(kSettleMax), options_.name + "/"); !taken) {
    log(LogLevel::kWarn, "ingest", "could not take back jobs of the last run", {{"error", taken.error().message}});
  }
  for (std::size_t i = 1; i <= options_.workers; ++i) {
    threads_.emplace_back([this, worker = fmt::format("{}/{}", options_.name, i)](const std::stop_token& stop) { work(stop, worker); });
  }
  threads_.emplace_back([this](const std::stop_token& stop) { beat(stop); });
}

void JobRunner::stop() {
  for (std::jthread& thread : threads_) thread.request_stop();
  threads_.clear();
}

void JobRunner::wake() {
  MutexLock lock(mutex_);
  ++wakes_;
  changed_.notify_all();
}

void JobRunner::work(const std::stop_token& stop, const std::string& worker) {
  const std::stop_callback on_stop(stop, [this] { wake(); });
  CallContext call;
  call.stop = stop;
  while (!stop.stop_requested()) {
    std::uint64_t seen = 0;
    {
      MutexLock lock(mutex_);
      seen = wakes_;
    }
    bool more = false;
    contained("ingest", "a job", [&] { more = run_one(call, worker).value_or(false); });
    if (more) continue;
    const auto until = std::chrono::steady_clock::now() + options_.poll;
    MutexLock lock(mutex_);
    while (!stop.stop_requested() && wakes_ == seen && std::chrono::steady_clock::now() < until) changed_.wait_until(lock, until);
  }
}

/// Jobs that say nothing for a while (a large document) keep their lease, and are stopped when somebody cancels them.
void JobRunner::beat(const std::stop_token& stop) {
  Mutex mutex;
  CondVar ended;
  const std::stop_callback wake(stop, [&] {
    MutexLock lock(mutex);
    ended.notify_all();
  });
  while (!stop.stop_requested()) {
    {
      const auto until = std::chrono::steady_clock::now() + options_.beat;
      MutexLock lock(mutex);
      while (!stop.stop_requested() && std::chrono::steady_clock::now() < until) ended.wait_until(lock, until);
    }
    contained("ingest", "extending the leases of jobs", [&] {
      MutexLock lock(mutex_);
      for (const auto& [id, running] : running_) {
        (void)running->note(jobs_, clock_, CallContext::with_timeout(options_.beat), options_.lease, options_.beat);
      }
    });
  }
}

Result<bool> JobRunner::run_one(const CallContext& call, std::string_view worker) {
  FOOTNOTE_TRY(const auto job, jobs_.take(call, worker, clock_.now(), clock_.now() + options_.lease));
  if (!job) return false;
  run(call, *job, std::string(worker));
  return true;
}

void JobRunner::run(const CallContext& call, const Job& job, const std::string& worker) {
  const GaugeHold hold(metrics_.gauge("footnote_jobs_running", "Jobs at work"));
  Running running{.id = job.id, .worker = worker, .stop = {}};
  const std::stop_callback chain(call.stop, [&running] { running.stop.request_stop(); });
  {
    MutexLock lock(mutex_);
    running_.emplace(job.id, &running);
  }
  CallContext within = call;
  within.stop = running.stop.get_token();
  const Report report = [&](const JobProgress& progress) {
    {
      MutexLock lock(running.mutex);
      running.progress = progress;
    }
    return running.note(jobs_, clock_, call, options_.lease, options_.note_every);
  };
  const auto handler = handlers_.find(job.kind);
  Result<JobProgress> ended = fail(ErrorCode::kUnsupported, "this server does no jobs of kind '{}'", job.kind);
  if (handler != handlers_.end()) {
    const bool whole = contained("ingest", "a job", [&] { ended = handler->second(within, job, report); });
    if (!whole) ended = fail(ErrorCode::kResourceExhausted, "not enough memory; allow more with --memory-max");
  }
  {
    MutexLock lock(mutex_);
    running_.erase(job.id);
  }
  MutexLock lock(running.mutex);
  settle(call, job, worker, running.progress, ended);
}

void JobRunner::settle(const CallContext& call, const Job& job, const std::string& worker, const JobProgress& progress,
                       const Result<JobProgress>& ended) {
  const CallContext last = call.detached(kSettleMax);
  Result<void> stored;
  if (ended) {
    stored = jobs_.finish(last, job.id, worker, JobState::kDone, *ended, "");
    count(job.kind, "done");
  } else if (call.stop.stop_requested()) {
    stored = jobs_.postpone(last, job.id, worker, progress, "", clock_.now());
    count(job.kind, "interrupted");
  } else if (ended.error().code == ErrorCode::kCancelled) {
    stored = jobs_.finish(last, job.id, worker, JobState::kCancelled, progress, "");
    count(job.kind, "cancelled");
  } else if (is_worth_another_try(ended.error().code) && job.attempts < kJobTriesMax) {
    stored = jobs_.postpone(last, job.id, worker, progress, shown(ended.error()), clock_.now() + job_retry_wait(job.attempts));
    count(job.kind, "postponed");
  } else {
    stored = jobs_.finish(last, job.id, worker, JobState::kFailed, progress, shown(ended.error()));
    count(job.kind, "failed");
  }
  if (!ended && ended.error().code != ErrorCode::kCancelled) {
    log(LogLevel::kWarn, "ingest", "a job failed", {{"job", job.id.value}, {"kind", job.kind}, {"error", ended.error().message}});
  }
  if (!stored) log(LogLevel::kWarn, "ingest", "could not store a job's end", {{"job", job.id.value}, {"error", stored.error().message}});
}

void JobRunner::count(std::string_view kind, std::string_view result, std::uint64_t by) {
  metrics_.counter("footnote_jobs_total", "Jobs, by kind and end", {{"kind", std::string(kind)}, {"result", std::string(result)}}).add(by);
}

}  // namespace footnote::upkeep
