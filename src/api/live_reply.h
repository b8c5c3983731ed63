#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "api/live_streams.h"
#include "base/call_context.h"
#include "http/stream.h"

namespace footnote::api {

/// Counts a stream's reader until the handler is done or the client disconnects.
class Reading {
 public:
  Reading(std::shared_ptr<LiveStream> stream, const std::stop_token& left) : stream_(std::move(stream)) {
    stream_->reader_came();
    on_left_.emplace(left, Leave{this});
  }
  ~Reading() {
    on_left_.reset();
    leave();
  }
  Reading(const Reading&) = delete;
  Reading& operator=(const Reading&) = delete;

 private:
  struct Leave {
    Reading* reading;
    void operator()() const { reading->leave(); }
  };
  void leave() {
    if (!has_left_.exchange(true)) stream_->reader_left();
  }

  const std::shared_ptr<LiveStream> stream_;
  std::atomic<bool> has_left_ = false;
  std::optional<std::stop_callback<Leave>> on_left_;
};

/// Sends a turn's events to its first reader and keeps them for those who resume. The turn continues when the first reader leaves.
class LiveReply {
 public:
  LiveReply(LiveStreams& streams, std::shared_ptr<LiveStream> stream, http::ResponseStream& response, http::Headers headers)
      : streams_(streams), stream_(std::move(stream)), response_(response), headers_(std::move(headers)) {}

  bool started() const { return writer_ != nullptr; }
  /// kResourceExhausted: too many streams.
  Result<void> start(const TurnId& turn);
  void send(std::string data);

 private:
  LiveStreams& streams_;
  const std::shared_ptr<LiveStream> stream_;
  http::ResponseStream& response_;
  const http::Headers headers_;
  http::SseWriter* writer_ = nullptr;
  bool is_read_ = true;
};

/// The turn's own call context: it outlives its first reader, and is cancelled through the stream.
CallContext call_of_turn(const CallContext& call, const LiveStream& stream, std::chrono::milliseconds timeout);

/// Sends the events after `id` until the stream ends or the reader leaves. REQUIRES: none of them is lost yet.
void replay(const CallContext& call, const std::shared_ptr<LiveStream>& stream, std::uint64_t id, http::ResponseStream& response,
            http::Headers headers);

}  // namespace footnote::api
