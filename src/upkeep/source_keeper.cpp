#include "upkeep/source_keeper.h"

#include <poll.h>

#include <algorithm>
#include <set>

#include "base/contained.h"
#include "base/log.h"

namespace footnote::upkeep {
namespace {

/// Stopping takes at most this long.
constexpr std::chrono::milliseconds kStopMax{100};

}  // namespace

void SourceKeeper::start() {
  drift_at_ = std::chrono::steady_clock::now() + options_.drift_every;
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

void SourceKeeper::stop() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
}

void SourceKeeper::queue(const CallContext& call, const SourceRecord& source, bool drift) {
  const auto queued = ports_.queue(call, source, drift);
  if (!queued && queued.error().code != ErrorCode::kCancelled) {
    log(LogLevel::kWarn, "ingest", "could not queue a sync", {{"source", source.id.value}, {"error", queued.error().message}});
  }
}

void SourceKeeper::look(const CallContext& call) {
  const UtcTime now = ports_.clock.now();
  const auto due = ports_.sources.due(call, now, kSourcesDueMax);
  for (const SourceRecord& source : due.value_or(std::vector<SourceRecord>{})) {
    // First, so that a queue that is full does not see it again at once.
    if (!ports_.sources.postpone(call, source.id, now + source.spec.interval)) continue;
    queue(call, source, false);
  }
  if (options_.drift_every.count() == 0 || std::chrono::steady_clock::now() < drift_at_) return;
  drift_at_ = std::chrono::steady_clock::now() + options_.drift_every;
  const auto watched = ports_.sources.watched(call);
  for (const SourceRecord& source : watched.value_or(std::vector<SourceRecord>{})) queue(call, source, true);
}

/// New folders are watched and synced once, because of what changed while nobody looked; those that are gone are let go.
void SourceKeeper::update_watches(const CallContext& call) {
  const auto sources = ports_.sources.watched(call);
  if (!sources) return;
  std::set<SourceId> wanted;
  for (const SourceRecord& source : *sources) {
    if (wanted.size() == kWatchedSourcesMax) break;
    wanted.insert(source.id);
    const auto known = watched_.find(source.id);
    if (known != watched_.end() && known->second.source.spec.location == source.spec.location) continue;
    auto watch = ingest::FolderWatch::open(source.spec.location);
    if (!watch) {
      std::string& reported = unwatched_[source.id];
      if (std::exchange(reported, watch.error().message) != reported) {
        log(LogLevel::kWarn, "ingest", "a folder can't be watched; it is synced by schedule",
            {{"source", source.id.value}, {"error", watch.error().message}});
      }
      continue;
    }
    unwatched_.erase(source.id);
    watched_.insert_or_assign(source.id, Watched{source, *std::move(watch)});
    queue(call, source, false);
  }
  std::erase_if(watched_, [&](const auto& entry) { return !wanted.contains(entry.first); });
  std::erase_if(unwatched_, [&](const auto& entry) { return !wanted.contains(entry.first); });
}

void SourceKeeper::wait(const std::stop_token& stop, std::chrono::steady_clock::time_point until) {
  std::vector<pollfd> descriptors;
  for (const auto& [id, watched] : watched_) {
    until = std::min(until, watched.watch.due_at());
    descriptors.push_back({.fd = watched.watch.descriptor(), .events = POLLIN, .revents = 0});
  }
  if (stop.stop_requested()) return;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
  (void)::poll(descriptors.data(), descriptors.size(), static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, kStopMax.count())));
}

void SourceKeeper::run(const std::stop_token& stop) {
  CallContext call;
  call.stop = stop;
  auto next_look = std::chrono::steady_clock::now();
  while (!stop.stop_requested()) {
    contained("ingest", "syncing sources", [&] {
      if (std::chrono::steady_clock::now() >= next_look) {
        update_watches(call);
        look(call);
        next_look = std::chrono::steady_clock::now() + options_.look_every;
      }
      for (auto& [id, watched] : watched_) {
        if (watched.watch.is_due(std::chrono::steady_clock::now())) queue(call, watched.source, false);
      }
    });
    wait(stop, next_look);
  }
}

}  // namespace footnote::upkeep
