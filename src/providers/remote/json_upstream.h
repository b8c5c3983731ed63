#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "base/json.h"
#include "http/client.h"

namespace footnote {

/// How often and after which wait a call is tried again. A wait is a random time between half of it and all of it, and doubles
/// from one to the next.
struct RetryPolicy {
  int attempts_max = 4;
  std::chrono::milliseconds first_wait{250};
  std::chrono::milliseconds wait_max{8'000};
  /// A server that asks for a longer wait is not waited for.
  std::chrono::milliseconds retry_after_max{30'000};
};

struct UpstreamOptions {
  std::string name;      ///< In messages: "the embedder".
  std::string settings;  ///< What its settings begin with: "EMBEDDER" for EMBEDDER_URL.
  std::string base_url;
  std::string key;                            ///< Sent as a bearer token; may be empty. Never logged, never in a message.
  std::chrono::milliseconds timeout{30'000};  ///< Of one attempt.
  RetryPolicy retry = {};
};

/// A server that the operator configured, asked for JSON. Tries again after connection failures, silence, 408, 429 and 5xx, with
/// a wait that honours Retry-After, as long as the call's time lasts. Borrows the client. Thread-safe.
///
/// kUnavailable: it does not answer, refuses the key, or sends what is no JSON. kResourceExhausted: it says 429 for longer than
/// it is worth waiting. kTooLarge: it says 413, or its answer is past the client's limit. kCancelled and kDeadlineExceeded: as the call
/// says. The server's own words are in no message.
class JsonUpstream {
 public:
  JsonUpstream(http::Client& client, UpstreamOptions options) : client_(client), options_(std::move(options)) {}

  Result<Json> get(const CallContext& call, std::string_view path) const;
  Result<Json> post(const CallContext& call, std::string_view path, const Json& body) const;

  /// "the embedder"
  const std::string& name() const { return options_.name; }
  /// "EMBEDDER_MODEL"
  std::string setting(std::string_view last) const { return options_.settings + "_" + std::string(last); }
  /// An answer that is JSON but not what was asked for: kUnavailable.
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

/// The wait that a Retry-After (whole seconds) or retry-after-ms field asks for; nullopt without one that can be read.
std::optional<std::chrono::milliseconds> retry_after_of(const http::Headers& headers);

}  // namespace footnote
