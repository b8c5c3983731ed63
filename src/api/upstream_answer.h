#pragma once

#include <memory>
#include <string>
#include <vector>

#include "api/chat_upstream.h"
#include "api/chat_wire.h"
#include "api/chunk_sink.h"
#include "api/relayed_turn_tap.h"
#include "http/relay.h"

namespace footnote::api {

/// Consumes an upstream's answer, or reports that there is none.
class AnswerReader {
 public:
  virtual ~AnswerReader() = default;
  /// Called before each request.
  virtual void on_request(const JsonObject& body, std::size_t bytes) = 0;
  virtual void on_head(const http::Headers& headers) = 0;
  virtual Result<void> on_body(std::string_view bytes) = 0;
  /// The body has ended.
  virtual void on_complete() = 0;
  virtual void on_failure(const Error& error) = 0;
  /// The upstream answered with an error.
  virtual void on_refusal(http::Response refusal) = 0;
};

/// How to render an upstream's answer.
struct AnswerForm {
  std::string model;                   ///< The client's name for the model.
  std::vector<proxy::Source> sources;  ///< The sources that [n] refer to.
  std::string unspoken;                ///< The operator's prompt: an answer that recites it is cut there.
  bool is_one_choice = true;           ///< The client asked for one answer: if it is cut, the upstream is told to stop.
};

/// Reads an upstream's stream into a sink. Also accepts a whole completion sent in place of a stream.
std::unique_ptr<AnswerReader> read_chunks(AnswerForm form, RelayedTurnTap tap, std::unique_ptr<ChunkSink> sink);

/// Reads an upstream's whole completion and forwards it.
std::unique_ptr<AnswerReader> read_completion(AnswerForm form, RelayedTurnTap tap, http::ResponseStream& response);

/// Calls the upstream, and retries with the model's second name if the first is unknown. Buffers non-200 answers. Borrows nothing: it may
/// outlive the request.
class UpstreamAsk final : public http::Relay {
 public:
  /// `request` has no body yet. `fallback`: the model's second name; empty: none.
  UpstreamAsk(http::ClientRequest request, JsonObject body, std::string fallback, std::unique_ptr<AnswerReader> reader)
      : template_(std::move(request)), body_(std::move(body)), fallback_(std::move(fallback)), reader_(std::move(reader)) {}

  http::ClientRequest request_for(std::string_view model);

  Result<void> on_head(int status, const http::Headers& headers) override;
  Result<void> on_body(std::string_view bytes) override;
  std::optional<http::ClientRequest> on_end(const Result<int>& ended) override;

 private:
  bool good() const { return status_ == 200; }

  const http::ClientRequest template_;
  JsonObject body_;
  std::string fallback_;
  const std::unique_ptr<AnswerReader> reader_;
  int status_ = 0;
  http::Headers headers_;
  std::string error_;
};

}  // namespace footnote::api
