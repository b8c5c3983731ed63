#include "api/session_routes.h"

namespace footnote::api {

namespace {

constexpr std::size_t kSessionBodyBytesMax = 4 << 10;
constexpr std::size_t kKeyTextBytesMax = 200;

JsonObject render_admission(const access::Admission& admission) {
  JsonArray scopes;
  for (const KeyScope scope : admission.caller.scopes) scopes.emplace_back(to_string(scope));
  return {{"signed_in", true}, {"scopes", std::move(scopes)}};
}

/// Secure only where the page itself came over TLS: browsers drop such a cookie on plain http, except on loopback in some of them.
std::string cookie(const http::Request& request, std::string_view value, std::chrono::seconds max_age) {
  const bool tls = request.headers.find("origin").value_or("").starts_with("https://");
  return fmt::format("{}={}; Path=/; Max-Age={}; HttpOnly; SameSite=Strict{}", session_cookie_name(request), value, max_age.count(),
                     tls ? "; Secure" : "");
}

Result<http::Response> show(const AuthServices& auth, const access::Caller&, const http::Request& request, const CallContext&) {
  const auto admitted = identify(auth, request);
  JsonObject out = admitted ? render_admission(*admitted) : JsonObject{{"signed_in", false}, {"scopes", JsonArray{}}};
  out["needs_key"] = !auth.keys.is_open();
  return http::Response::json(200, out);
}

Result<http::Response> sign_in(const AuthServices& auth, const access::Caller&, const http::Request& request, const CallContext&) {
  FOOTNOTE_TRY(const Json body, parse_request_json(request.body));
  FOOTNOTE_TRY(const JsonReader reader, JsonReader::of(body));
  FOOTNOTE_CHECK(reader.only({"key"}));
  FOOTNOTE_TRY(const std::string key, reader.required_string("key", kKeyTextBytesMax));
  FOOTNOTE_TRY(const access::Session session, auth.keys.open_session(key));
  JsonObject out = render_admission(session.admission);
  out["needs_key"] = !auth.keys.is_open();
  out["expires_at"] = to_rfc3339(session.expires_at);
  http::Response response = http::Response::json(200, out);
  response.headers.set("set-cookie", cookie(request, session.text, access::kSessionTime));
  return response;
}

Result<http::Response> sign_out(const AuthServices&, const access::Caller&, const http::Request& request, const CallContext&) {
  http::Response response;
  response.status = 204;
  response.headers.set("set-cookie", cookie(request, "", std::chrono::seconds{0}));
  return response;
}

}  // namespace

std::vector<Route> make_session_routes(const AuthServices& auth) {
  const auto row = [&](http::Method method, auto* function, std::string summary) {
    return Route{.access = Access::anyone(),
                 .method = method,
                 .pattern = "/api/session",
                 .handler = bind(auth, function),
                 .lane = http::Lane::kInline,
                 .body_bytes_max = kSessionBodyBytesMax,
                 .summary = std::move(summary)};
  };
  return {row(http::Method::kGet, show, "Whether this browser is signed in, and what it may do"),
          row(http::Method::kPost, sign_in, "Sign a browser in with an API key: sets a session cookie"),
          row(http::Method::kDelete, sign_out, "Sign the browser out")};
}

}  // namespace footnote::api
