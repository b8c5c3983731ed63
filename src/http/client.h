#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/call_context.h"
#include "base/metrics.h"
#include "base/result.h"
#include "http/circuit_breaker.h"
#include "http/message.h"

namespace footnote::http {

/// Body bytes of one call that wait for their consumer; past it the upstream is not read.
inline constexpr std::size_t kHandOverBytesMax = 256 << 10;

/// Where a client may connect to. kAny: to whatever the operator configured. kPublic: to addresses of the public internet alone, for URLs
/// that others chose; each address that a name resolves to is looked at before the connect, and one that is not allowed ends the call.
enum class Addresses { kAny, kPublic };

struct ClientOptions {
  std::string name = "upstream";                       ///< Whom it calls, for the metrics.
  std::chrono::milliseconds connect_timeout{10'000};   ///< Resolving, connecting and the TLS handshake together.
  std::chrono::milliseconds silence_timeout{120'000};  ///< The longest time without a byte of the answer.
  std::size_t response_bytes_max = 64 << 20;           ///< Of the body; past it kTooLarge.
  std::size_t header_bytes_max = 64 << 10;
  std::string ca_file;  ///< PEM; empty: the system's certificates.
  /// Kept open between calls, all hosts together; 0 turns reuse off.
  std::size_t idle_connections_max = 8;
  /// Shorter than the keep-alive of common servers (5 s), so that they rarely close one that is about to be used.
  std::chrono::milliseconds idle_time_max{4'000};
  /// A connect that fails is tried again until so many have failed: nothing was sent yet, so it is safe for every method.
  int connect_attempts = 1;
  BreakerOptions breaker = {};  ///< Failed connects, broken connections, silence and the statuses 502, 503, 504 count as failures.
  Addresses addresses = Addresses::kAny;
};

class ClientCore;

struct ClientRequest {
  Method method = Method::kGet;
  std::string url;  ///< http:// or https://, see url.h.
  /// Host, content-length, connection and (unless given) user-agent and the context's traceparent are added.
  Headers headers;
  std::string body;
  /// In place of the client's response_bytes_max: for bodies that are handed on and not kept.
  std::optional<std::size_t> response_bytes_max = {};
};

/// HTTP/1.1 client for upstreams that the operator configured; for URLs that others chose only with Addresses::kPublic. Follows no
/// redirect, reads no proxy from the environment, keeps no cookies. https checks the certificate and the host name. Thread-safe; calls
/// block their caller, all sockets live on one I/O thread.
///
/// kInvalidArgument: a bad URL or header. kUnavailable: can't connect, connection lost, malformed answer, or silence;
/// the message names host:port; or it failed so often that it is left alone (ClientOptions::breaker). kPermissionDenied: an address that
/// may not be connected to. kTooLarge: the answer is past a limit. kCancelled and kDeadlineExceeded: the context ended; the upstream socket
/// was closed at once. Metrics: footnote_upstream_calls_open, footnote_upstream_requests_total{provider,code}, where the code is the
/// answer's status, or the error's name when no whole answer came.
class Client {
 public:
  Client(ClientOptions options, Metrics& metrics);
  /// REQUIRES: no call is running.
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  /// Any status is a Response; only transport failures are errors.
  Result<Response> fetch(const CallContext& call, const ClientRequest& request);

  using OnHead = std::function<Result<void>(int status, const Headers&)>;
  using OnBody = std::function<Result<void>(std::string_view bytes)>;
  /// Hands the body over as it comes, on the caller's thread: `on_head` once, then `on_body` any number of times.
  /// An error of either closes the connection and is returned. A slow `on_body` pauses the upstream.
  /// Returns the status when the body is complete.
  Result<int> stream(const CallContext& call, const ClientRequest& request, OnHead on_head, OnBody on_body);

 private:
  friend class ClientCore;
  std::unique_ptr<ClientCore> core_;
};

}  // namespace footnote::http
