#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/call_context.h"
#include "base/result.h"
#include "http/message.h"
#include "http/stream.h"

namespace footnote::http {

/// Answers one request. Called concurrently. The context ends with the route's timeout and is stopped when the client leaves. An exception
/// is caught, logged and answered with 500.
using Handler = std::function<Response(const Request&, const CallContext&)>;
/// A handler that may stream its response.
using StreamHandler = std::function<void(const Request&, const CallContext&, ResponseStream&)>;

/// Where a handler runs. kInline: on the I/O thread; must not block, because all connections of that thread wait for it. kWorker: on the
/// bounded worker pool, where it may block. kWaitingWorker: like kWorker, for handlers that mostly wait, e.g. for a model's output: while
/// they mark themselves as waiting (base/waiting.h) they do not occupy a worker; they have a limit of their own.
enum class Lane { kInline, kWorker, kWaitingWorker };

inline constexpr std::size_t kRouteBodyBytesMaxDefault = 1 << 20;

struct Route {
  Method method = Method::kGet;
  /// "/api/documents/{id}": "{name}" matches one segment, a final "{name...}" the rest of the path (may be empty).
  std::string pattern;
  std::variant<Handler, StreamHandler> handler;
  Lane lane = Lane::kWorker;
  std::size_t body_bytes_max = kRouteBodyBytesMaxDefault;
  std::chrono::milliseconds timeout = std::chrono::seconds{60};
  /// Called for a matching request before its body is read, on the I/O thread: must not block. May set Request::attachment; returning a
  /// response ends the request. May be empty.
  std::function<std::optional<Response>(Request&)> admit;
  /// Makes the sink of an admitted request's body; empty: the body goes to Request::body. Must not block for long.
  std::function<Result<std::unique_ptr<BodySink>>(const Request&)> body_sink = {};
  /// Renders the server's own errors for a matching request (body too long, no worker in time). Empty: the server's default.
  std::function<Response(const Request&, const Error&)> render_error;
};

/// Result of matching a path. If `route` is null, `allowed` lists the methods of this path (empty: not found), sorted by enum; it includes
/// HEAD if GET is served, and always OPTIONS.
struct RouteMatch {
  const Route* route = nullptr;
  NameValues path_params;
  std::vector<Method> allowed;
};

/// "GET, HEAD, OPTIONS", for the Allow header.
std::string render_allow(const std::vector<Method>& methods);

/// Immutable, so thread-safe. Literal segments take precedence over "{name}", and that over "{name...}", regardless of route order. GET
/// routes also serve HEAD unless it has its own route. "/a/" and "/a" differ.
class Router {
 public:
  /// kInvalidArgument for a malformed pattern, an empty handler or an inline stream; kAlreadyExists for two routes that match the same
  /// paths.
  static Result<Router> build(std::vector<Route> routes);

  /// `path` is percent-encoded, as on the wire, so that "%2F" stays inside its segment. A segment ".." or "." never matches inside
  /// "{name...}". kInvalidArgument if a segment does not decode.
  Result<RouteMatch> match(Method method, std::string_view path) const;

 private:
  struct Segment {
    enum class Kind { kLiteral, kOne, kRest };
    Kind kind = Kind::kLiteral;
    std::string text;  // the literal, or the parameter's name
  };
  using Pattern = std::vector<Segment>;

  Router() = default;
  static Result<Pattern> parse_pattern(std::string_view pattern);
  static std::string shape_of(const Pattern& pattern);
  static bool more_specific(const Pattern& a, const Pattern& b);
  static bool fits(const Pattern& pattern, const std::vector<std::string>& segments, NameValues* params);

  std::vector<Route> routes_;      // most specific first
  std::vector<Pattern> patterns_;  // parallel to routes_
};

}  // namespace footnote::http
