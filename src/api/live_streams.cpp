#include "api/live_streams.h"

#include "base/contained.h"

namespace footnote::api {

namespace {

using SteadyClock = std::chrono::steady_clock;

/// How often to check for abandoned streams.
constexpr std::chrono::milliseconds kTendStep{250};

}  // namespace

LiveStream::Event LiveStream::push(std::string data) {
  Event event;
  {
    MutexLock lock(mutex_);
    event = {++last_id_, std::move(data)};
    ring_bytes_ += event.data.size();
    ring_.push_back(event);
    while (ring_bytes_ > bytes_max_ && ring_.size() > 1) {
      ring_bytes_ -= ring_.front().data.size();
      ring_.pop_front();
    }
  }
  changed_.notify_all();
  return event;
}

void LiveStream::end() {
  {
    MutexLock lock(mutex_);
    if (!ended_at_) ended_at_ = SteadyClock::now();
  }
  changed_.notify_all();
}

LiveStream::Batch LiveStream::after(std::uint64_t id, std::chrono::milliseconds patience) const {
  MutexLock lock(mutex_);
  const auto until = SteadyClock::now() + patience;
  while (last_id_ <= id && !ended_at_) {
    if (!changed_.wait_until(lock, until)) break;
  }
  Batch out{.events = {}, .lost = !ring_.empty() && ring_.front().id > id + 1, .ended = ended_at_.has_value()};
  for (const Event& event : ring_) {
    if (event.id > id) out.events.push_back(event);
  }
  return out;
}

void LiveStream::reader_came() {
  MutexLock lock(mutex_);
  ++readers_;
}

void LiveStream::reader_left() {
  MutexLock lock(mutex_);
  if (--readers_ == 0) alone_since_ = SteadyClock::now();
}

std::optional<SteadyClock::time_point> LiveStream::alone_since() const {
  MutexLock lock(mutex_);
  return readers_ > 0 || ended_at_ ? std::nullopt : std::optional(alone_since_);
}

std::optional<SteadyClock::time_point> LiveStream::ended_at() const {
  MutexLock lock(mutex_);
  return ended_at_;
}

void LiveStream::stop() {
  stopped_.request_stop();
  cancelled_.request_stop();
}

void LiveStream::abandon() { cancelled_.request_stop(); }

LiveStreams::LiveStreams(Options options) : options_(options), tender_([this](const std::stop_token& stop) { tend(stop); }) {}

LiveStreams::~LiveStreams() {
  {
    MutexLock lock(mutex_);
    tender_.request_stop();
  }
  wake_.notify_all();
  tender_.join();
  MutexLock lock(mutex_);
  for (const auto& [turn, entry] : streams_) entry.stream->abandon();
}

bool LiveStreams::add(const TurnId& turn, std::shared_ptr<LiveStream> stream) {
  MutexLock lock(mutex_);
  if (streams_.size() >= options_.streams_max) return false;
  streams_.emplace(turn, Entry{std::move(stream), ++last_added_});
  return true;
}

std::shared_ptr<LiveStream> LiveStreams::find(const TurnId& turn, const ConversationId& conversation) const {
  MutexLock lock(mutex_);
  const auto found = streams_.find(turn);
  return found == streams_.end() || found->second.stream->conversation() != conversation ? nullptr : found->second.stream;
}

std::vector<std::shared_ptr<LiveStream>> LiveStreams::running(const ConversationId& conversation) const {
  std::map<std::uint64_t, std::shared_ptr<LiveStream>> found;
  {
    MutexLock lock(mutex_);
    for (const auto& [turn, entry] : streams_) {
      if (entry.stream->conversation() == conversation && !entry.stream->ended_at()) found.emplace(entry.added, entry.stream);
    }
  }
  std::vector<std::shared_ptr<LiveStream>> out;
  for (auto& [added, stream] : found) out.push_back(std::move(stream));
  return out;
}

void LiveStreams::tend(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    {
      MutexLock lock(mutex_);
      if (!stop.stop_requested()) (void)wake_.wait_until(lock, SteadyClock::now() + kTendStep);
    }
    contained("http", "tending streams", [this] { tend_once(); });
  }
}

void LiveStreams::tend_once() {
  const auto now = SteadyClock::now();
  std::vector<std::shared_ptr<LiveStream>> left;
  {
    MutexLock lock(mutex_);
    std::erase_if(streams_, [&](const auto& entry) {
      const auto ended = entry.second.stream->ended_at();
      return ended && now - *ended >= options_.resume_grace;
    });
    for (const auto& [turn, entry] : streams_) {
      const auto alone = entry.stream->alone_since();
      if (alone && now - *alone >= options_.resume_grace) left.push_back(entry.stream);
    }
  }
  // Outside the lock: callbacks may look up streams.
  for (const auto& stream : left) stream->abandon();
}

}  // namespace footnote::api
