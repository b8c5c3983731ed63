#pragma once

#include <functional>
#include <optional>
#include <string>
#include <variant>

#include "access/caller.h"
#include "api/error_mapping.h"
#include "base/result.h"
#include "http/router.h"

namespace footnote::api {

/// Who may call a route. There is no default: a route must state it to compile.
class Access {
 public:
  static constexpr Access anyone() { return Access(std::nullopt); }
  static constexpr Access with(KeyScope scope) { return Access(scope); }

  std::optional<KeyScope> scope() const { return scope_; }

 private:
  explicit constexpr Access(std::optional<KeyScope> scope) : scope_(scope) {}
  std::optional<KeyScope> scope_;
};

/// Answers a request of an admitted caller. On a public route, `caller` is nobody. An error becomes its HTTP response.
using Handler = std::function<Result<http::Response>(const access::Caller&, const http::Request&, const CallContext&)>;
/// Like Handler, for responses that may be streams.
using StreamHandler = std::function<void(const access::Caller&, const http::Request&, const CallContext&, http::ResponseStream&)>;

/// Makes a handler from a function f(services, caller, request, call).
template <class Services>
Handler bind(const Services& services,
             Result<http::Response> (*function)(const Services&, const access::Caller&, const http::Request&, const CallContext&)) {
  return [services, function](const access::Caller& caller, const http::Request& request, const CallContext& call) {
    return function(services, caller, request, call);
  };
}

/// Renders errors in an API's format, including those of the access check.
using ErrorForm = http::Response (*)(const Error&);

/// One row of the table of routes.
struct Route {
  Access access;
  http::Method method = http::Method::kGet;
  std::string pattern;
  std::variant<Handler, StreamHandler> handler;
  http::Lane lane = http::Lane::kWorker;
  std::size_t body_bytes_max = http::kRouteBodyBytesMaxDefault;
  std::chrono::milliseconds timeout = std::chrono::seconds{60};
  std::string summary;
  ErrorForm error_form = render_error;
  /// See http::Route.
  std::function<Result<std::unique_ptr<http::BodySink>>(const http::Request&)> body_sink = {};
  bool for_every_origin = false;  ///< True: pages of every origin may read the server's overload errors on this route.
};

}  // namespace footnote::api
