#pragma once

#include <string>

#include "api/chat_wire.h"
#include "api/chunk_sink.h"

namespace footnote::api {

/// A request of OpenAI's responses form as one for a chat completion: instructions become the system message, input the messages;
/// parameters that both know go along. kUnsupported names what a grounded answer can't have: previous_response_id, conversation, tools,
/// background.
Result<ChatAsk> chat_of_response_ask(const ChatAsk& ask);

/// The chunks of an answer as one response object.
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

/// The chunks of an answer as the events of a response, each as it comes.
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
