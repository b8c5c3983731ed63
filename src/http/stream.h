#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "http/message.h"
#include "http/relay.h"

namespace footnote::http {

/// Bytes of one stream buffered for a slow reader; beyond it senders block.
inline constexpr std::size_t kSseQueueBytesMax = 256 << 10;

/// Frames server-sent events:
///   frame := ["event: " name LF | "id: " number LF] ("data: " line LF)+ LF  |  (": " line LF)+ LF
/// CR and CRLF in the data count as line ends, so no text can forge a field. Thread-safe: frames of several threads never interleave. Each
/// call blocks while kSseQueueBytesMax bytes wait for the reader. kCancelled: the client disconnected. kDeadlineExceeded: the client read
/// too slowly and was disconnected. After an error every later call fails the same way; the handler should return soon.
class SseWriter {
 public:
  virtual ~SseWriter() = default;

  Result<void> send(std::string_view data);
  /// Adds an id, which a reconnecting client sends as Last-Event-ID.
  Result<void> send_with_id(std::uint64_t id, std::string_view data);
  /// `name` is cut at its first line end.
  Result<void> send_event(std::string_view name, std::string_view data);
  Result<void> comment(std::string_view text);

 private:
  /// Queues one whole frame.
  virtual Result<void> write(std::string_view frame) = 0;
};

/// Streams a response body as raw bytes. Blocks and fails like SseWriter.
class ByteWriter {
 public:
  virtual ~ByteWriter() = default;
  /// Queues the bytes unchanged.
  virtual Result<void> write_bytes(std::string_view bytes) = 0;
};

/// How a stream handler responds: with exactly one of reply, start_sse, start_bytes or relay, once, from the handler's thread. A handler
/// that returns without any of them is answered with 500. Valid until the handler returns; for a relay, as long as the relay lives.
class ResponseStream {
 public:
  virtual ~ResponseStream() = default;

  /// A plain response, sent when the handler returns. Ignored (and logged) after start_sse or an earlier reply.
  virtual void reply(Response response) = 0;
  /// Sends status 200 with content-type text/event-stream and `extra` headers at once, then streams until the handler returns. The writer
  /// lives as long as this object. After reply the writer fails with kFailedPrecondition.
  virtual SseWriter& start_sse(Headers extra) = 0;
  /// Sends this status and these headers at once, then only what is written until the handler returns. REQUIRES: a status whose responses
  /// have a body. The writer lives as long as this object.
  virtual ByteWriter& start_bytes(int status, Headers headers) = 0;
  /// Leaves the response to `relay`, which builds it from the upstream's response to `request` using the other functions. The handler
  /// should return, so that no thread is held while the upstream streams. The call has the handler's context: it ends when the client
  /// disconnects or the route's timeout passes. `client` must outlive the server.
  virtual void relay(Client& client, ClientRequest request, std::unique_ptr<Relay> relay) = 0;
  /// Marks the stream as incomplete: the connection is reset instead of ended, so that no client mistakes a part for the whole.
  virtual void cut() = 0;
};

/// Records a handler's response in memory, for callers without a socket.
class RecordedStream final : public ResponseStream, private SseWriter, private ByteWriter {
 public:
  using OnBytes = std::function<Result<void>(std::string_view bytes)>;
  /// With `on_bytes`, streamed bytes are passed to it as they arrive and are not kept.
  explicit RecordedStream(OnBytes on_bytes = {}) : on_bytes_(std::move(on_bytes)) {}

  void reply(Response response) override;
  SseWriter& start_sse(Headers extra) override;
  ByteWriter& start_bytes(int status, Headers headers) override;
  /// Runs the whole relay.
  void relay(Client& client, ClientRequest request, std::unique_ptr<Relay> relay) override;
  void cut() override { was_cut_ = true; }

  /// True for a stream of either kind.
  bool sse_started() const { return sse_started_; }
  bool was_cut() const { return was_cut_; }
  /// The reply; or the stream's head, with all frames so far as body unless on_bytes took them.
  const Response& response() const { return response_; }
  /// From now on every frame fails with this code, as if the client had disconnected.
  void fail_with(ErrorCode code) { failure_ = code; }

 private:
  Result<void> write(std::string_view frame) override;
  Result<void> write_bytes(std::string_view bytes) override { return write(bytes); }

  const OnBytes on_bytes_;
  Response response_;
  bool sse_started_ = false;
  bool was_cut_ = false;
  std::optional<ErrorCode> failure_;
};

}  // namespace footnote::http
