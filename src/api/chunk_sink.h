#pragma once

#include <string>

#include "api/chat_wire.h"
#include "base/json.h"
#include "http/stream.h"

namespace footnote::api {

/// Receives an answer as chat completion chunks: begin once, then take any number of times, then finish or fail_with.
class ChunkSink {
 public:
  virtual ~ChunkSink() = default;
  /// `headers`: the upstream's, for the client. Also called before fail_with.
  virtual void begin(http::Headers headers) = 0;
  /// An error means that the client has disconnected.
  virtual Result<void> take(const JsonObject& chunk) = 0;
  virtual Result<void> finish() = 0;
  /// May be called before begin. `error` is {"error":{...}} in OpenAI's format; `status` is used if the answer has not begun.
  virtual void fail_with(int status, const JsonObject& error) = 0;
};

/// An error as a whole response. Keeps the upstream's headers unless it sets its own.
http::Response plain_error(int status, const JsonObject& error, const http::Headers& headers);

/// Reports one of our own errors to a sink.
void send_error(ChunkSink& sink, const Error& error);

/// Sends the chunks as server-sent events as they arrive, then [DONE]. The stream begins with the first chunk, so an earlier failure is a
/// plain error response.
class ChunkEvents final : public ChunkSink {
 public:
  explicit ChunkEvents(http::ResponseStream& response) : response_(response) {}
  void begin(http::Headers headers) override { headers_ = std::move(headers); }
  Result<void> take(const JsonObject& chunk) override;
  Result<void> finish() override;
  void fail_with(int status, const JsonObject& error) override;

 private:
  http::SseWriter& writer();

  http::ResponseStream& response_;
  http::Headers headers_;
  http::SseWriter* writer_ = nullptr;
};

/// The chunks of one answer combined; first choice only.
struct CollectedAnswer {
  ChunkHead head;
  std::string text;
  JsonArray annotations;
  std::string finish_reason;
  Json usage;     ///< Null if none was sent.
  Json footnote;  ///< The value of our extension field "footnote"; null: none.

  void take(const JsonObject& chunk);
};

/// Sends the chunks as one chat completion.
class WholeCompletion final : public ChunkSink {
 public:
  explicit WholeCompletion(http::ResponseStream& response) : response_(response) {}
  void begin(http::Headers headers) override { headers_ = std::move(headers); }
  Result<void> take(const JsonObject& chunk) override;
  Result<void> finish() override;
  void fail_with(int status, const JsonObject& error) override;

 private:
  http::ResponseStream& response_;
  http::Headers headers_;
  CollectedAnswer answer_;
};

}  // namespace footnote::api
