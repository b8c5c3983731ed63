#pragma once

#include <string>

#include "api/chat_wire.h"
#include "base/json.h"
#include "http/stream.h"

namespace footnote::api {

/// Where an answer goes that comes as chunks of a chat completion: begin once, then take any number of times, then finish or fail_with.
class ChunkSink {
 public:
  virtual ~ChunkSink() = default;
  /// With the upstream's headers for the client, of a good answer or of one that will be failed with.
  virtual void begin(http::Headers headers) = 0;
  /// An error of it means that the client is gone.
  virtual Result<void> take(const JsonObject& chunk) = 0;
  virtual Result<void> finish() = 0;
  /// Also before begin. `error` is {"error":{...}} of OpenAI's form, `status` that of an answer which has not begun.
  virtual void fail_with(int status, const JsonObject& error) = 0;
};

/// An error as a whole answer, with an upstream's headers where it has none of its own.
http::Response plain_error(int status, const JsonObject& error, const http::Headers& headers);

/// Tells a sink of an error of ours.
void tell_error(ChunkSink& sink, const Error& error);

/// The chunks as server-sent events, each as it comes, then [DONE]. The stream begins with the first chunk, so that what fails before is a
/// plain error.
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

/// What the chunks of one answer come to: the first choice alone.
struct CollectedAnswer {
  ChunkHead head;
  std::string text;
  JsonArray annotations;
  std::string finish_reason;
  Json usage;     ///< Null without one.
  Json footnote;  ///< What we say beside the form; null: nothing.

  void take(const JsonObject& chunk);
};

/// The chunks as one chat completion.
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
