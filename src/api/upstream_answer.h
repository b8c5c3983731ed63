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

/// What is made of an upstream's good answer, or said when there is none.
class AnswerReader {
 public:
  virtual ~AnswerReader() = default;
  /// Before each request.
  virtual void on_request(const JsonObject& body, std::size_t bytes) = 0;
  virtual void on_head(const http::Headers& headers) = 0;
  virtual Result<void> on_body(std::string_view bytes) = 0;
  /// The end of the body.
  virtual void on_complete() = 0;
  virtual void on_failure(const Error& error) = 0;
  /// The upstream's own error.
  virtual void on_refusal(http::Response refusal) = 0;
};

/// Reads an upstream's stream into a sink, under the client's name for the model. An upstream that answers a request for a stream with a
/// whole completion is read too.
std::unique_ptr<AnswerReader> read_chunks(std::string model, std::vector<proxy::Source> sources, RelayedTurnTap tap,
                                          std::unique_ptr<ChunkSink> sink);

/// Reads an upstream's whole completion and passes it on under the client's name for the model.
std::unique_ptr<AnswerReader> read_completion(std::string model, std::vector<proxy::Source> sources, RelayedTurnTap tap,
                                              http::ResponseStream& response);

/// Asks the upstream, under the model's second name where it does not know the first. An answer that is not 200 is kept here. Borrows
/// nothing: it may outlive the request.
class UpstreamAsk final : public http::Relay {
 public:
  /// `request` has no body yet. `fallback`: the second name; empty: none.
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
