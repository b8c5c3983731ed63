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

/// Answers one request. Called from several threads at once. The context ends with the route's timeout
/// and is stopped when the client goes away. An exception is caught, logged and answered with 500.
using Handler = std::function<Response(const Request&, const CallContext&)>;
/// The same for answers that may be streams.
using StreamHandler = std::function<void(const Request&, const CallContext&, ResponseStream&)>;

/// Where a handler runs. kInline: on the I/O thread, so it must not wait for anything; what every other
/// connection of that thread waits for. kWorker: on the bounded worker pool, where it may block.
/// kWaitingWorker: the same for one that mostly waits for others, a model that writes: while it says so (base/waiting.h) it holds no place
/// among the workers, and such handlers have a bound of their own.
enum class Lane { kInline, kWorker, kWaitingWorker };

inline constexpr std::size_t kRouteBodyBytesMaxDefault = 1 << 20;

struct Route {
  Method method = Method::kGet;
  /// "/api/documents/{id}": "{name}" takes one segment, a last "{name...}" the rest of the path ("" included).
  std::string pattern;
  std::variant<Handler, StreamHandler> handler;
  Lane lane = Lane::kWorker;
  std::size_t body_bytes_max = kRouteBodyBytesMaxDefault;
  std::chrono::milliseconds timeout = std::chrono::seconds{60};
  /// Sees a request that matched, before its body is read, on the I/O thread: must not wait. May attach what it found out
  /// (Request::attachment); an answer ends the request. May be empty.
  std::function<std::optional<Response>(Request&)> admit;
  /// How the server's own refusals of a request that matched are told (a body that is too long, no worker in time). Empty: as everywhere.
  std::function<Response(const Request&, const Error&)> render_error;
};

/// What a path leads to. `route` is set when found; otherwise `allowed` lists the methods that this path knows
/// (empty: not found). `allowed` is sorted by enum, with HEAD beside GET and OPTIONS always.
struct RouteMatch {
  const Route* route = nullptr;
  NameValues path_params;
  std::vector<Method> allowed;
};

/// "GET, HEAD, OPTIONS", for the Allow header.
std::string render_allow(const std::vector<Method>& methods);

/// Immutable, so thread-safe. A literal segment goes before "{name}", and that before "{name...}", whatever the
/// order of the routes. HEAD is served by GET unless it has a route of its own. "/a/" and "/a" differ.
class Router {
 public:
  /// kInvalidArgument for a malformed pattern, an empty handler or an inline stream; kAlreadyExists for two routes
  /// that no path can tell apart.
  static Result<Router> build(std::vector<Route> routes);

  /// `path` is percent-encoded, as on the wire, so that "%2F" stays inside its segment. A segment ".." or "." inside
  /// a "{name...}" never matches. kInvalidArgument when a segment does not decode.
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
  std::vector<Pattern> patterns_;  // of routes_, by position
};

}  // namespace footnote::http
