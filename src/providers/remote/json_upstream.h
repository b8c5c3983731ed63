#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "base/json.h"
#include "http/client.h"

namespace footnote {

/// Exponential backoff with jitter: each wait is random between half and all of its nominal time, which doubles per retry.
struct RetryPolicy {
  int attempts_max = 4;
  std::chrono::milliseconds first_wait{250};
  std::chrono::milliseconds wait_max{8'000};
  /// A server that asks for a longer wait is not retried.
  std::chrono::milliseconds retry_after_max{30'000};
};

struct UpstreamOptions {
  std::string name;      ///< Used in messages: "the embedder".
  std::string settings;  ///< Prefix of its settings: "EMBEDDER" for EMBEDDER_URL.
  std::string base_url;
  std::string key;                            ///< Sent as a bearer token; may be empty. Never logged or put in messages.
  std::chrono::milliseconds timeout{30'000};  ///< Per attempt.
  RetryPolicy retry = {};
};

/// JSON client for a server that the operator configured. Retries after connection failures, silence, 408, 429 and 5xx, honouring
/// Retry-After, until the call's deadline. Borrows the client. Thread-safe.
///
/// kUnavailable: no response, key rejected, or a response that is not JSON. kResourceExhausted: 429 for longer than we wait. kTooLarge:
/// 413, or a response beyond the client's limit. kCancelled and kDeadlineExceeded: from the call's context. Messages never contain the
/// server's own text.
class JsonUpstream {
 public:
  JsonUpstream(http::Client& client, UpstreamOptions options) : client_(client), options_(std::move(options)) {}

  Result<Json> get(const CallContext& call, std::string_view path) const;
  Result<Json> post(const CallContext& call, std::string_view path, const Json& body) const;

  /// "the embedder"
  const std::string& name() const { return options_.name; }
  /// "EMBEDDER_MODEL"
  std::string setting(std::string_view last) const { return options_.settings + "_" + std::string(last); }
  /// For a response that is valid JSON but not what was requested: kUnavailable.
  std::unexpected<Error> malformed(std::string_view what) const;

 private:
  struct Failure;
  Result<Json> ask(const CallContext& call, http::ClientRequest request) const;
  std::expected<Json, Failure> attempt(const CallContext& call, const http::ClientRequest& request) const;
  Failure failed_call(const CallContext& call, Error error) const;
  Failure refused(int status, const http::Headers& headers) const;

  http::Client& client_;
  const UpstreamOptions options_;
};

/// The wait requested by a Retry-After (whole seconds) or retry-after-ms field; nullopt if absent or unreadable.
std::optional<std::chrono::milliseconds> retry_after_of(const http::Headers& headers);

}  // namespace footnote
