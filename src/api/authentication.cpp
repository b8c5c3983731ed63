#include "api/authentication.h"

#include "api/browser_policy.h"
#include "api/qdrant_wire.h"
#include "base/log.h"
#include "base/text.h"
#include "http/host.h"

namespace footnote::api {
namespace {

using access::Admission, access::Caller;

/// The header in which vector store clients send their key.
constexpr std::string_view kKeyHeader = "api-key";
/// Vector store clients read only the first digit of Retry-After.
constexpr std::int64_t kRetryAfterDigitMax = 9;

Counter& refused_counter(Metrics& metrics, ErrorCode reason) {
  return metrics.counter("footnote_access_refused_total", "Requests refused by the access check",
                         {{"reason", std::string(to_string(reason))}});
}

/// The parts of a route that its access check needs.
struct Guarded {
  KeyScope scope;
  ErrorForm error_form;
};

http::Response refusal(const AuthServices& auth, ErrorForm form, const http::Request& request, const Caller& caller, const Error& error) {
  refused_counter(auth.metrics, error.code).add();
  log(LogLevel::kWarn, "access", "access refused",
      {{"reason", to_string(error.code)}, {"route", request.route}, {"key_id", caller.key.value}, {"request_id", request.request_id}});
  http::Response response = form(error);
  if (error.code == ErrorCode::kUnauthenticated) response.headers.set("www-authenticate", "Bearer realm=\"footnote\"");
  return response;
}

/// The request's key text; empty if there is none. Duplicate headers are refused earlier.
Result<std::string_view> key_text_of(const http::Request& request) {
  if (!request.headers.contains("authorization")) return trim(request.headers.find(kKeyHeader).value_or(""));
  const auto token = bearer_token(request.headers);
  if (!token) return fail(ErrorCode::kUnauthenticated, "send the key as authorization: Bearer fn_live_...");
  return *token;
}

std::optional<http::Response> admit(const AuthServices& auth, const Guarded& route, http::Request& request) {
  auto admitted = identify(auth, request);
  if (!admitted) return refusal(auth, route.error_form, request, {}, admitted.error());
  const auto admission = std::make_shared<const Admission>(*std::move(admitted));
  request.attachment = admission;
  const Caller& caller = admission->caller;
  if (const auto wait = admission->rate.retry_after) {
    http::Response response =
        refusal(auth, route.error_form, request, caller,
                {ErrorCode::kResourceExhausted, fmt::format("this key has reached its rate limit; try again in {} s", wait->count()), {}});
    const std::int64_t seconds =
        route.error_form == render_qdrant_error ? std::min<std::int64_t>(wait->count(), kRetryAfterDigitMax) : wait->count();
    response.headers.set("retry-after", std::to_string(seconds));
    return response;
  }
  if (!caller.may(route.scope)) {
    return refusal(auth, route.error_form, request, caller,
                   {ErrorCode::kPermissionDenied, fmt::format("this needs a key with the scope '{}'", to_string(route.scope)), {}});
  }
  return std::nullopt;
}

const std::shared_ptr<const Admission>* admission_of(const http::Request& request) {
  return std::any_cast<std::shared_ptr<const Admission>>(&request.attachment);
}

/// The caller, with its effective workspace.
Result<Caller> caller_of(const AuthServices& auth, const http::Request& request, const CallContext& call) {
  const auto* admission = admission_of(request);
  if (admission == nullptr) return Caller{};
  Caller caller = (*admission)->caller;
  const auto name = request.headers.find(kWorkspaceHeader);
  if (!name || caller.key) return caller;
  FOOTNOTE_TRY(const Workspace workspace, auth.catalog.find_workspace(call, *name));
  caller.workspace = workspace.id;
  return caller;
}

http::Handler with_caller(const AuthServices& auth, ErrorForm form, Handler handler) {
  return [auth, form, handler = std::move(handler)](const http::Request& request, const CallContext& call) {
    const auto caller = caller_of(auth, request, call);
    if (!caller) return form(caller.error());
    auto response = handler(*caller, request, call);
    return response ? *std::move(response) : form(response.error());
  };
}

http::StreamHandler with_caller(const AuthServices& auth, ErrorForm form, StreamHandler handler) {
  return [auth, form, handler = std::move(handler)](const http::Request& request, const CallContext& call, http::ResponseStream& response) {
    const auto caller = caller_of(auth, request, call);
    if (!caller) return response.reply(form(caller.error()));
    handler(*caller, request, call, response);
  };
}

}  // namespace

std::optional<std::string_view> bearer_token(const http::Headers& headers) {
  constexpr std::string_view kBearer = "bearer ";
  const std::string_view value = headers.find("authorization").value_or("");
  if (to_lower_ascii(value.substr(0, kBearer.size())) != kBearer) return std::nullopt;
  return trim(value.substr(kBearer.size()));
}

std::string session_cookie_name(const http::Request& request) {
  const std::string_view host = request.headers.find("host").value_or("");
  const std::string_view name = http::host_name_of(host);
  const std::string_view rest = host.substr(std::min(host.size(), host.find(name) + name.size()));
  const std::size_t colon = rest.rfind(':');
  const auto port = colon == std::string_view::npos ? std::nullopt : parse_whole_number(rest.substr(colon + 1));
  return port ? fmt::format("footnote_session_{}", *port) : "footnote_session";
}

std::string_view session_text_of(const http::Request& request) {
  const auto cookies = request.headers.find("cookie");
  if (!cookies || !is_from_own_page(request)) return {};
  const std::string name = session_cookie_name(request);
  for (const std::string_view part : split(*cookies, ';')) {
    const std::string_view cookie = trim(part);
    if (cookie.starts_with(name) && cookie.substr(name.size()).starts_with('=')) return cookie.substr(name.size() + 1);
  }
  return {};
}

/// While no keys exist, loopback callers are the owner; a key that they send is ignored (clients often must send one).
Result<Admission> identify(const AuthServices& auth, const http::Request& request) {
  const auto text = key_text_of(request);
  const std::string_view session = text && text->empty() ? session_text_of(request) : std::string_view{};
  const auto known = !session.empty() ? auth.keys.admit_session(session)
                     : text           ? auth.keys.admit(*text)
                                      : Result<Admission>(std::unexpected(text.error()));
  if (known) return known;
  if (auth.keys.is_open())
    return Admission{{.workspace = auth.home, .scopes = {KeyScope::kAdmin, KeyScope::kVisitor}, .is_operator = true}, {}};
  if (text && text->empty() && session.empty())
    return fail(ErrorCode::kUnauthenticated, "this needs an API key: authorization: Bearer fn_live_...");
  return known;
}

http::Route guarded(const AuthServices& auth, Route route) {
  http::Route out;
  out.method = route.method;
  out.pattern = std::move(route.pattern);
  out.lane = route.lane;
  out.body_bytes_max = route.body_bytes_max;
  out.timeout = route.timeout;
  out.body_sink = std::move(route.body_sink);
  out.render_error = [form = route.error_form, open = route.for_every_origin](const http::Request& request, const Error& error) {
    http::Response response = form(error);
    if (const auto origin = request.headers.find("origin"); open && origin) {
      response.headers.set("access-control-allow-origin", *origin);
      response.headers.set("access-control-expose-headers", "retry-after, x-request-id");
    }
    return response;
  };
  std::visit([&](auto& handler) { out.handler = with_caller(auth, route.error_form, std::move(handler)); }, route.handler);
  if (const auto scope = route.access.scope()) {
    for (const ErrorCode reason : {ErrorCode::kUnauthenticated, ErrorCode::kPermissionDenied, ErrorCode::kResourceExhausted}) {
      refused_counter(auth.metrics, reason);  // export the series at 0 so that it can be monitored
    }
    const Guarded own{*scope, route.error_form};
    out.admit = [auth, own](http::Request& request) { return admit(auth, own, request); };
  }
  return out;
}

void add_rate_headers(const http::Request& request, http::Headers& headers) {
  const auto* admission = admission_of(request);
  if (admission == nullptr || (*admission)->rate.windows.empty()) return;
  std::string policy;
  std::string state;
  for (const access::RateWindow& window : (*admission)->rate.windows) {
    const std::string_view comma = policy.empty() ? "" : ", ";
    policy += fmt::format("{}\"{}\";q={};w={}", comma, window.name, window.quota, window.length.count());
    state += fmt::format("{}\"{}\";r={};t={}", comma, window.name, window.remaining, window.until_full.count());
  }
  headers.set("ratelimit-policy", policy);
  headers.set("ratelimit", state);
}

}  // namespace footnote::api
