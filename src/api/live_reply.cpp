#include "api/live_reply.h"

#include "base/waiting.h"

namespace footnote::api {

namespace {

/// How long a resumed reader waits before it checks whether its client is still connected.
constexpr std::chrono::milliseconds kResumeStep{500};

}  // namespace

Result<void> LiveReply::start(const TurnId& turn) {
  if (!streams_.add(turn, stream_)) return fail(ErrorCode::kResourceExhausted, "too many streams are open");
  writer_ = &response_.start_sse(headers_);
  if (!writer_->comment("ok")) is_read_ = false;
  return {};
}

void LiveReply::send(std::string data) {
  const LiveStream::Event numbered = stream_->push(std::move(data));
  if (is_read_ && !writer_->send_with_id(numbered.id, numbered.data)) is_read_ = false;
}

CallContext call_of_turn(const CallContext& call, const LiveStream& stream, std::chrono::milliseconds timeout) {
  CallContext out = call.detached(timeout);
  out.stop = stream.cancelled();
  return out;
}

void replay(const CallContext& call, const std::shared_ptr<LiveStream>& stream, std::uint64_t id, http::ResponseStream& response,
            http::Headers headers) {
  const Reading reading(stream, call.stop);
  http::SseWriter& writer = response.start_sse(std::move(headers));
  if (!writer.comment("ok")) return;
  const Waiting waiting;  // for the thread that writes the answer
  while (call.check()) {
    const LiveStream::Batch batch = stream->after(id, kResumeStep);
    if (batch.lost) return response.cut();
    for (const LiveStream::Event& event : batch.events) {
      if (!writer.send_with_id(event.id, event.data)) return;
      id = event.id;
    }
    if (batch.ended && batch.events.empty()) return;
  }
}

}  // namespace footnote::api
