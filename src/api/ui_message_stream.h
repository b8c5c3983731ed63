#pragma once

#include "answer/answer_service.h"
#include "api/kb_wire.h"
#include "http/stream.h"

namespace footnote::api {

/// Streams a turn as the AI SDK's UI message stream. Its chunk types are a closed set and an unknown one breaks the client, so only those
/// of version 6 are used. The stream opens at on_start, before retrieval.
class UiMessageStream final : public answer::TurnListener {
 public:
  explicit UiMessageStream(http::ResponseStream& response) : response_(response) {}

  Result<void> on_start(const TurnId& turn) override;
  Result<void> on_sources(std::span<const SourceBlock> sources) override;
  Result<void> on_text(std::string_view text) override;
  Result<void> on_check(const answer::SentenceCheck& check) override;
  /// Ends the text part with the notice, for clients that show every part, and names it in a `data-replace`; what follows is a new part.
  Result<void> on_withdraw(const answer::Withdrawal& withdrawal) override;

  /// Sends the rest of a successful turn.
  Result<void> finish(const answer::TurnReport& report, CitedTexts& texts);
  /// Reports a failed turn: an error chunk if the stream is open, else a plain error response.
  void fail_with(const Error& error);

 private:
  Result<void> send(const JsonObject& chunk);
  Result<void> finish_answer(const Answer& answer, CitedTexts& texts, bool calibrated);
  Result<void> finish_refusal(const Refusal& refusal);
  Result<void> close_text();

  http::ResponseStream& response_;
  http::SseWriter* writer_ = nullptr;
  std::string text_id() const;

  std::string text_;  ///< The text of this part so far: offsets count its code points.
  int text_number_ = 1;
  bool text_open_ = false;
};

}  // namespace footnote::api
