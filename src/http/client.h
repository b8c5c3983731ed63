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

/// Body bytes of one call buffered for its consumer; at the limit, reading from the upstream pauses.
inline constexpr std::size_t kHandOverBytesMax = 256 << 10;

/// Where a client may connect. kAny: anywhere; for URLs that the operator configured. kPublic: only to public internet addresses; for URLs
/// chosen by others. Every address that a name resolves to is checked before connecting; one forbidden address fails the call.
enum class Addresses { kAny, kPublic };

struct ClientOptions {
  std::string name = "upstream";                       ///< Label of the upstream in metrics.
  std::chrono::milliseconds connect_timeout{10'000};   ///< Covers DNS, connect and TLS handshake.
  std::chrono::milliseconds silence_timeout{120'000};  ///< Longest gap between two bytes of the response.
  std::size_t response_bytes_max = 64 << 20;           ///< Body limit; beyond it kTooLarge.
  std::size_t header_bytes_max = 64 << 10;
  std::string ca_file;  ///< PEM; empty: the system's certificates.
  /// Connections kept open between calls, for all hosts together; 0 disables reuse.
  std::size_t idle_connections_max = 8;
  /// Shorter than the keep-alive of common servers (5 s), so they rarely close a connection just as we reuse it.
  std::chrono::milliseconds idle_time_max{4'000};
  /// Total connect attempts. Retrying is safe for every method because nothing has been sent yet.
  int connect_attempts = 1;
  BreakerOptions breaker = {};  ///< Counts failed connects, broken connections, silence, and statuses 502, 503, 504.
  Addresses addresses = Addresses::kAny;
};

class ClientCore;

struct ClientRequest {
  Method method = Method::kGet;
  std::string url;  ///< http:// or https://, see url.h.
  /// Host, content-length and connection are added; user-agent and the context's traceparent too, unless given.
  Headers headers;
  std::string body;
  /// Overrides the client's response_bytes_max, for bodies that are forwarded rather than stored.
  std::optional<std::size_t> response_bytes_max = {};
};

/// HTTP/1.1 client for upstreams that the operator configured; use Addresses::kPublic for URLs chosen by others. Follows no redirects,
/// ignores proxy environment variables, keeps no cookies. https verifies the certificate and the host name. Thread-safe; calls block the
/// caller, all sockets live on one I/O thread.
///
/// kInvalidArgument: bad URL or header. kUnavailable: cannot connect, connection lost, malformed response, silence timeout (the message
/// names host:port), or the circuit breaker is open (ClientOptions::breaker). kPermissionDenied: forbidden address. kTooLarge: the response
/// exceeds a limit. kCancelled and kDeadlineExceeded: the context ended; the upstream socket was closed at once. Metrics:
/// footnote_upstream_calls_open, footnote_upstream_requests_total{provider,code}, where code is the response status, or the error's name if
/// the response was incomplete.
class Client {
 public:
  Client(ClientOptions options, Metrics& metrics);
  /// REQUIRES: no call is running.
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  /// Every status is a Response; only transport failures are errors.
  Result<Response> fetch(const CallContext& call, const ClientRequest& request);

  using OnHead = std::function<Result<void>(int status, const Headers&)>;
  using OnBody = std::function<Result<void>(std::string_view bytes)>;
  /// Delivers the body as it arrives, on the caller's thread: `on_head` once, then `on_body` any number of times. An error from either
  /// closes the connection and is returned. A slow `on_body` pauses the upstream. Returns the status when the body is complete.
  Result<int> stream(const CallContext& call, const ClientRequest& request, OnHead on_head, OnBody on_body);

 private:
  friend class ClientCore;
  std::unique_ptr<ClientCore> core_;
};

}  // namespace footnote::http
