#include "api/upstream_answer.h"

#include "api/error_mapping.h"
#include "base/text.h"
#include "http/sse_parser.h"

namespace footnote::api {

namespace {

/// Largest upstream error that is read and forwarded.
constexpr std::size_t kErrorBytesMax = 256 << 10;
constexpr std::size_t kCompletionBytesMax = 32 << 20;
/// Largest whole completion accepted in place of a stream: it is parsed on the I/O thread, which others share.
constexpr std::size_t kUnaskedBytesMax = 4 << 20;

/// Stored with the turn: does not include the upstream's own message.
Error refused_with(int status) { return {ErrorCode::kUnavailable, fmt::format("the model server answered with status {}", status), {}}; }

class ChunkStream final : public AnswerReader {
 public:
  ChunkStream(AnswerForm form, RelayedTurnTap tap, std::unique_ptr<ChunkSink> sink)
      : restorer_(std::move(form.model), std::move(form.sources), std::move(form.unspoken)), tap_(std::move(tap)), sink_(std::move(sink)) {}

  void on_request(const JsonObject& body, std::size_t bytes) override { tap_.on_request(body, bytes); }

  void on_head(const http::Headers& headers) override {
    is_stream_ = starts_with_ignoring_case(headers.find("content-type").value_or(""), "text/event-stream");
    sink_->begin(answer_headers(headers));
  }

  Result<void> on_body(std::string_view bytes) override {
    if (!is_stream_) {
      if (whole_.size() + bytes.size() > kUnaskedBytesMax) return fail(ErrorCode::kTooLarge, "more than {} bytes", kUnaskedBytesMax);
      whole_ += bytes;
      return {};
    }
    FOOTNOTE_TRY(const auto events, parser_.feed(bytes));
    for (const http::SseEvent& event : events) FOOTNOTE_CHECK(take(event.data));
    return {};
  }

  void on_complete() override {
    const auto finished = finish();
    if (finished) return;
    tap_.fail(finished.error());
    send_error(*sink_, upstream_failure(finished.error()));
  }
  void on_failure(const Error& error) override {
    tap_.fail(error);
    if (!error_sent_) send_error(*sink_, error);
  }
  void on_refusal(http::Response refusal) override {
    tap_.fail(refused_with(refusal.status));
    sink_->begin(std::move(refusal.headers));
    sink_->fail_with(refusal.status, parse_json(refusal.body)->get_object());
  }

 private:
  Result<void> finish() {
    if (!is_stream_) FOOTNOTE_CHECK(take_whole());
    if (error_sent_) return {};
    if (!done_ && !restorer_.finished()) return fail(ErrorCode::kUnavailable, "it broke off in the middle of its answer");
    // On error the client disconnected after the last chunk: it has the whole answer.
    (void)sink_->finish();
    tap_.finish();
    return {};
  }

  Result<void> take(std::string_view data) {
    if (done_ || error_sent_) return {};
    if (data == "[DONE]") {
      done_ = true;
      return {};
    }
    auto chunk = parse_json(data);
    if (!chunk || !chunk->is_object()) return fail(ErrorCode::kUnavailable, "it sent an invalid chunk");
    return take_chunk(std::move(chunk->get_object()));
  }

  Result<void> take_chunk(JsonObject chunk) {
    if (const Json* error = chunk.if_contains("error"); error != nullptr && error->is_object()) {
      error_sent_ = true;
      tap_.fail({ErrorCode::kUnavailable, "the model server sent an error in its answer", {}});
      sink_->fail_with(502, chunk);
      return {};
    }
    tap_.take(chunk);
    const bool was_finished = restorer_.finished();
    std::vector<JsonObject> restored = restorer_.restore(std::move(chunk));
    if (!was_finished && restorer_.finished()) tap_.sign(restored.back());
    for (const JsonObject& each : restored) FOOTNOTE_CHECK(sink_->take(each));
    return {};
  }

  /// Passes on a whole completion as one chunk.
  Result<void> take_whole() {
    auto value = parse_json(whole_);
    if (!value || !value->is_object()) return fail(ErrorCode::kUnavailable, "it sent an invalid completion");
    JsonObject& completion = value->get_object();
    Json* choices = completion.if_contains("choices");
    if (choices != nullptr && choices->is_array()) {
      for (Json& choice : choices->get_array()) {
        if (!choice.is_object() || !choice.get_object().contains("message")) continue;
        Json message = std::move(choice.get_object()["message"]);
        choice.get_object().erase("message");
        choice.get_object()["delta"] = std::move(message);
      }
    }
    completion["object"] = "chat.completion.chunk";
    return take_chunk(std::move(completion));
  }

  ChunkRestorer restorer_;
  RelayedTurnTap tap_;
  const std::unique_ptr<ChunkSink> sink_;
  http::SseParser parser_;
  bool is_stream_ = true;
  std::string whole_;
  bool done_ = false;
  bool error_sent_ = false;  // an error was sent to the client: nothing more may follow
};

class CompletionReader final : public AnswerReader {
 public:
  CompletionReader(AnswerForm form, RelayedTurnTap tap, http::ResponseStream& response)
      : form_(std::move(form)), tap_(std::move(tap)), response_(response) {}

  void on_request(const JsonObject& body, std::size_t bytes) override { tap_.on_request(body, bytes); }
  void on_head(const http::Headers& headers) override { headers_ = answer_headers(headers); }
  Result<void> on_body(std::string_view bytes) override {
    if (body_.size() + bytes.size() > kCompletionBytesMax) return fail(ErrorCode::kTooLarge, "more than {} bytes", kCompletionBytesMax);
    body_ += bytes;
    return {};
  }
  void on_complete() override {
    auto completion = parse_json(body_);
    if (!completion || !completion->is_object()) {
      return on_failure(upstream_failure({ErrorCode::kUnavailable, "it sent an invalid completion", {}}));
    }
    tap_.take(completion->get_object());
    restore_completion(completion->get_object(), form_.model, form_.sources, form_.unspoken);
    tap_.sign(completion->get_object());
    tap_.finish();
    http::Response out = http::Response::json(200, *completion);
    for (const auto& [name, value] : headers_) {
      if (!out.headers.contains(name)) out.headers.add(name, value);
    }
    response_.reply(std::move(out));
  }
  void on_failure(const Error& error) override {
    tap_.fail(error);
    response_.reply(render_openai_error(error));
  }
  void on_refusal(http::Response refusal) override {
    tap_.fail(refused_with(refusal.status));
    response_.reply(with_openai_headers(std::move(refusal)));
  }

 private:
  const AnswerForm form_;
  RelayedTurnTap tap_;
  http::ResponseStream& response_;
  http::Headers headers_;
  std::string body_;
};

}  // namespace

std::unique_ptr<AnswerReader> read_chunks(AnswerForm form, RelayedTurnTap tap, std::unique_ptr<ChunkSink> sink) {
  return std::make_unique<ChunkStream>(std::move(form), std::move(tap), std::move(sink));
}

std::unique_ptr<AnswerReader> read_completion(AnswerForm form, RelayedTurnTap tap, http::ResponseStream& response) {
  return std::make_unique<CompletionReader>(std::move(form), std::move(tap), response);
}

http::ClientRequest UpstreamAsk::request_for(std::string_view model) {
  body_["model"] = model;
  http::ClientRequest out = template_;
  out.body = to_text(body_);
  reader_->on_request(body_, out.body.size());
  return out;
}

Result<void> UpstreamAsk::on_head(int status, const http::Headers& headers) {
  status_ = status;
  headers_ = headers;
  error_.clear();
  if (good()) reader_->on_head(headers);
  return {};
}

Result<void> UpstreamAsk::on_body(std::string_view bytes) {
  if (good()) return reader_->on_body(bytes);
  error_ += bytes.substr(0, kErrorBytesMax - std::min(kErrorBytesMax, error_.size()));
  return {};
}

std::optional<http::ClientRequest> UpstreamAsk::on_end(const Result<int>& ended) {
  if (!ended) {
    reader_->on_failure(upstream_failure(ended.error()));
  } else if (good()) {
    reader_->on_complete();
  } else if (!fallback_.empty() && says_no_such_model(status_, error_)) {
    return request_for(std::exchange(fallback_, {}));
  } else {
    reader_->on_refusal(error_answer(status_, headers_, error_));
  }
  return std::nullopt;
}

}  // namespace footnote::api
