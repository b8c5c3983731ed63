#pragma once

#include "answer/answer_service.h"
#include "api/kb_wire.h"
#include "api/live_reply.h"
#include "http/stream.h"

namespace footnote::api {

/// Where the chunks of a UI message stream go.
class UiChunkSink {
 public:
  virtual ~UiChunkSink() = default;
  virtual Result<void> open(const TurnId& turn) = 0;
  virtual Result<void> send(std::string_view data) = 0;
};

/// To one client: the turn ends when it disconnects.
class DirectUiChunks final : public UiChunkSink {
 public:
  explicit DirectUiChunks(http::ResponseStream& response) : response_(response) {}
  Result<void> open(const TurnId& turn) override;
  Result<void> send(std::string_view data) override { return writer_->send(data); }

 private:
  http::ResponseStream& response_;
  http::SseWriter* writer_ = nullptr;
};

/// To every reader of a stream that can be resumed.
class LiveUiChunks final : public UiChunkSink {
 public:
  explicit LiveUiChunks(LiveReply& reply) : reply_(reply) {}
  Result<void> open(const TurnId& turn) override { return reply_.start(turn); }
  Result<void> send(std::string_view data) override {
    reply_.send(std::string(data));
    return {};
  }

 private:
  LiveReply& reply_;
};

/// The headers of a UI message stream.
http::Headers ui_stream_headers();

/// Streams a turn as the AI SDK's UI message stream. Its chunk types are a closed set and an unknown one breaks the client, so only those
/// of version 6 are used. The stream opens at on_start, before retrieval.
class UiMessageStream final : public answer::TurnListener {
 public:
  /// `about` is sent as metadata of the first chunk, with the turn's id.
  explicit UiMessageStream(UiChunkSink& out, std::string language = "en", JsonObject about = {})
      : out_(out), language_(std::move(language)), about_(std::move(about)) {}

  Result<void> on_start(const TurnId& turn) override;
  Result<void> on_sources(std::span<const SourceBlock> sources) override;
  Result<void> on_text(std::string_view text) override;
  Result<void> on_check(const answer::SentenceCheck& check) override;
  /// Ends the text part with the notice, for clients that show every part, and names it in a `data-replace`; what follows is a new part.
  Result<void> on_withdraw(const answer::Withdrawal& withdrawal) override;

  /// Sends the rest of a successful turn.
  Result<void> finish(const answer::TurnReport& report, CitedTexts& texts);
  /// Ends the stream of a turn that was stopped on request.
  Result<void> abort();
  /// Ends an open stream with an error chunk.
  void fail_with(const Error& error);

  bool is_open() const { return is_open_; }
  const TurnId& turn() const { return turn_; }
  /// All text sent so far.
  const std::string& text() const { return text_; }

 private:
  Result<void> send(const JsonObject& chunk);
  Result<void> finish_answer(const Answer& answer, CitedTexts& texts, bool calibrated);
  Result<void> finish_refusal(const Refusal& refusal);
  Result<void> close_text();

  std::string text_id() const;

  UiChunkSink& out_;
  const std::string language_;  ///< Of the hint that comes with a refusal.
  const JsonObject about_;
  TurnId turn_;
  bool is_open_ = false;
  std::string text_;  ///< The text of this part so far: offsets count its code points.
  int text_number_ = 1;
  bool text_open_ = false;
};

}  // namespace footnote::api
