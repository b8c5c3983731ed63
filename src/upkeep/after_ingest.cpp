#include "upkeep/after_ingest.h"

#include <algorithm>

#include "base/contained.h"
#include "base/log.h"

namespace footnote::upkeep {

namespace {

/// Time limit for all gaps of one ingest together.
constexpr std::chrono::minutes kReplayTimeMax{2};

}  // namespace

AfterIngest::AfterIngest(Ports ports) : ports_(std::move(ports)), thread_([this](const std::stop_token& stop) { run(stop); }) {}

AfterIngest::~AfterIngest() {
  thread_.request_stop();
  thread_.join();
}

void AfterIngest::changed(const Corpus& corpus) {
  MutexLock lock(mutex_);
  std::erase_if(waiting_, [&](const Corpus& other) { return other.id == corpus.id; });
  if (waiting_.size() == kWaitingMax) waiting_.pop_front();
  waiting_.push_back(corpus);
  changed_.notify_all();
}

void AfterIngest::run(const std::stop_token& stop) {
  const std::stop_callback wake(stop, [this] {
    MutexLock lock(mutex_);
    changed_.notify_all();
  });
  while (true) {
    Corpus corpus;
    {
      MutexLock lock(mutex_);
      while (!stop.stop_requested() && waiting_.empty()) changed_.wait(lock);
      if (stop.stop_requested()) return;
      corpus = std::move(waiting_.front());
      waiting_.pop_front();
    }
    CallContext call = CallContext::with_timeout(kReplayTimeMax);
    call.stop = stop;
    contained("app", "testing gaps again", [&] { follow(call, corpus); });
  }
}

void AfterIngest::follow(const CallContext& call, const Corpus& corpus) {
  const auto queued =
      ports_.webhooks.enqueue(call, {corpus.workspace, std::string(kSourceIndexed), std::to_string(corpus.id.value), ports_.clock.now()});
  if (!queued) log(LogLevel::kWarn, "app", "could not queue webhook messages about an ingest", {{"error", queued.error().message}});
  const auto closed = answer::replay_gaps(call, ports_.agents, ports_.conversations, corpus.workspace, corpus.id, ports_.would_answer);
  if (!closed)
    return log(LogLevel::kWarn, "app", "could not test gaps again", {{"corpus", corpus.name}, {"error", closed.error().message}});
  if (*closed > 0)
    log(LogLevel::kInfo, "app", "gaps closed: their questions can be answered now", {{"corpus", corpus.name}, {"gaps", *closed}});
}

}  // namespace footnote::upkeep
