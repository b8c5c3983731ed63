#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "domain/ids.h"

namespace footnote::api {

/// The events of one turn, which a reader can leave and resume. Kept in a ring buffer of bounded bytes, numbered from 1. Thread-safe.
class LiveStream {
 public:
  /// More than a typical answer needs; a reader that falls further behind can't resume.
  static constexpr std::size_t kRingBytesMax = 128 << 10;
  /// For readers that always start at the first event, with every source's snippet.
  static constexpr std::size_t kWholeBytesMax = 2 << 20;

  struct Event {
    std::uint64_t id = 0;
    std::string data;
  };
  /// The events after an id. `lost`: some were already dropped. `ended`: no more will follow.
  struct Batch {
    std::vector<Event> events;
    bool lost = false;
    bool ended = false;
  };

  explicit LiveStream(ConversationId conversation, std::size_t bytes_max = kRingBytesMax)
      : conversation_(std::move(conversation)), bytes_max_(bytes_max) {}

  const ConversationId& conversation() const { return conversation_; }

  /// Appends an event and returns it with its number.
  Event push(std::string data);
  void end();
  /// Waits until there are events after `id`, the stream has ended, or `patience` is over.
  Batch after(std::uint64_t id, std::chrono::milliseconds patience) const;

  void reader_came();
  void reader_left();
  /// Since when there is no reader; nullopt while there is one, or after the end.
  std::optional<std::chrono::steady_clock::time_point> alone_since() const;
  std::optional<std::chrono::steady_clock::time_point> ended_at() const;

  /// Cancels the turn: `stop` on the reader's request, `abandon` because nobody reads.
  void stop();
  void abandon();
  std::stop_token stopped() const { return stopped_.get_token(); }      ///< By the reader.
  std::stop_token cancelled() const { return cancelled_.get_token(); }  ///< By the reader or by abandonment.

 private:
  const ConversationId conversation_;
  const std::size_t bytes_max_;
  std::stop_source stopped_;
  std::stop_source cancelled_;
  mutable Mutex mutex_;
  mutable CondVar changed_;
  std::deque<Event> ring_ FOOTNOTE_TSA(guarded_by(mutex_));
  std::size_t ring_bytes_ FOOTNOTE_TSA(guarded_by(mutex_)) = 0;
  std::uint64_t last_id_ FOOTNOTE_TSA(guarded_by(mutex_)) = 0;
  int readers_ FOOTNOTE_TSA(guarded_by(mutex_)) = 0;
  std::chrono::steady_clock::time_point alone_since_ FOOTNOTE_TSA(guarded_by(mutex_)) = std::chrono::steady_clock::now();
  std::optional<std::chrono::steady_clock::time_point> ended_at_ FOOTNOTE_TSA(guarded_by(mutex_));
};

/// The streams that can be resumed: running ones, and those that ended recently. A stream without a reader for the grace period is
/// abandoned. Thread-safe.
class LiveStreams {
 public:
  struct Options {
    std::chrono::milliseconds resume_grace = std::chrono::seconds(10);
    std::size_t streams_max = 10'000;
  };
  explicit LiveStreams(Options options);
  /// Abandons running streams.
  ~LiveStreams();
  LiveStreams(const LiveStreams&) = delete;
  LiveStreams& operator=(const LiveStreams&) = delete;

  /// False: the limit is reached.
  bool add(const TurnId& turn, std::shared_ptr<LiveStream> stream);
  /// Null: no such turn in that conversation.
  std::shared_ptr<LiveStream> find(const TurnId& turn, const ConversationId& conversation) const;
  /// Those of a conversation that still run, oldest first.
  std::vector<std::shared_ptr<LiveStream>> running(const ConversationId& conversation) const;

 private:
  void tend(const std::stop_token& stop);
  void tend_once();

  const Options options_;
  mutable Mutex mutex_;
  CondVar wake_;
  std::uint64_t last_added_ FOOTNOTE_TSA(guarded_by(mutex_)) = 0;
  struct Entry {
    std::shared_ptr<LiveStream> stream;
    std::uint64_t added = 0;
  };
  std::map<TurnId, Entry> streams_ FOOTNOTE_TSA(guarded_by(mutex_));
  std::jthread tender_;  // last: it uses all of the above
};

}  // namespace footnote::api
