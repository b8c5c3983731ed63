#pragma once

#include <string>

#include "api/chat_wire.h"
#include "api/chunk_sink.h"

namespace footnote::api {

/// Converts an OpenAI responses request to a chat completion request: instructions become the system message, input the messages; shared
/// parameters are copied. kUnsupported names what a grounded answer does not support: previous_response_id, conversation, tools,
/// background.
Result<ChatAsk> chat_of_response_ask(const ChatAsk& ask);

/// Sends the chunks of an answer as one response object.
class WholeResponse final : public ChunkSink {
 public:
  WholeResponse(http::ResponseStream& response, std::string_view model);
  void begin(http::Headers headers) override { headers_ = std::move(headers); }
  Result<void> take(const JsonObject& chunk) override;
  Result<void> finish() override;
  void fail_with(int status, const JsonObject& error) override;

 private:
  http::ResponseStream& response_;
  const ChunkHead head_;
  http::Headers headers_;
  CollectedAnswer answer_;
};

/// Sends the chunks of an answer as response events as they arrive.
class ResponseEvents final : public ChunkSink {
 public:
  ResponseEvents(http::ResponseStream& response, std::string_view model);
  void begin(http::Headers headers) override { headers_ = std::move(headers); }
  Result<void> take(const JsonObject& chunk) override;
  Result<void> finish() override;
  void fail_with(int status, const JsonObject& error) override;

 private:
  Result<void> start();
  Result<void> send(std::string_view type, JsonObject event);

  http::ResponseStream& response_;
  const ChunkHead head_;
  const std::string item_id_;
  http::Headers headers_;
  http::SseWriter* writer_ = nullptr;
  CollectedAnswer answer_;
  std::int64_t sequence_ = 0;
};

}  // namespace footnote::api
