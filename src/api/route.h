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

/// Who may call a route. There is no default: a route that does not say it does not compile.
class Access {
 public:
  static constexpr Access anyone() { return Access(std::nullopt); }
  static constexpr Access with(KeyScope scope) { return Access(scope); }

  std::optional<KeyScope> scope() const { return scope_; }

 private:
  explicit constexpr Access(std::optional<KeyScope> scope) : scope_(scope) {}
  std::optional<KeyScope> scope_;
};

/// Answers one request of a caller that was let in; `caller` of a route for anyone is nobody. An error becomes its HTTP answer.
using Handler = std::function<Result<http::Response>(const access::Caller&, const http::Request&, const CallContext&)>;
/// The same for answers that may be streams.
using StreamHandler = std::function<void(const access::Caller&, const http::Request&, const CallContext&, http::ResponseStream&)>;

/// A function of the form f(services, caller, request, call) as a handler.
template <class Services>
Handler bind(const Services& services,
             Result<http::Response> (*function)(const Services&, const access::Caller&, const http::Request&, const CallContext&)) {
  return [services, function](const access::Caller& caller, const http::Request& request, const CallContext& call) {
    return function(services, caller, request, call);
  };
}

/// The form of a front door's errors, of those too that the door gives out for it.
using ErrorForm = http::Response (*)(const Error&);
/// The form of a refusal for want of a worker, where it depends on the request.
using BusyForm = http::Response (*)(const http::Request&, const Error&);

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
  BusyForm busy_form = nullptr;  ///< Null: as error_form.
};

}  // namespace footnote::api
