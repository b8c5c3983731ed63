#include "api/browser_policy.h"

#include <algorithm>

#include "api/error_mapping.h"
#include "base/text.h"
#include "http/host.h"

namespace footnote::api {
namespace {

constexpr std::string_view kRequestMark = "x-footnote-request";
constexpr std::string_view kKeyHeader = "api-key";
constexpr std::string_view kHeadersTaken = "authorization, api-key, content-type, x-footnote-request, x-request-id, traceparent";
constexpr std::string_view kHeadersShown = "x-request-id, retry-after, ratelimit, ratelimit-policy, traceparent";
constexpr std::string_view kOpenHeadersTaken = "authorization, content-type, last-event-id";
constexpr std::string_view kPreflightSeconds = "600";

bool contains(const std::vector<std::string>& values, std::string_view wanted) { return std::ranges::find(values, wanted) != values.end(); }

/// "https://www.example.com:8443" -> "www.example.com:8443"; empty for "null" and everything else that is not an origin.
std::string_view authority_of(std::string_view origin) {
  const auto scheme = origin.find("://");
  return scheme == std::string_view::npos ? std::string_view{} : origin.substr(scheme + 3);
}

bool changes_state(http::Method method) {
  return method != http::Method::kGet && method != http::Method::kHead && method != http::Method::kOptions;
}

/// The type without its parameters, in lower case.
std::string media_type(const http::Request& request) {
  const std::string_view value = request.headers.find("content-type").value_or("");
  return to_lower_ascii(trim(value.substr(0, value.find(';'))));
}

/// A plain form, or a script without a preflight, can send only three content types and no custom headers.
bool a_form_could_send(const http::Request& request) {
  if (request.headers.find(kRequestMark) == "1" || request.headers.contains(kKeyHeader)) return false;
  const std::string type = media_type(request);
  if (type == "application/json" || (type.starts_with("application/") && type.ends_with("+json"))) return false;
  if (type == "multipart/form-data") return !request.headers.contains("authorization");
  return request.method != http::Method::kDelete;  // browsers preflight every DELETE
}

http::Response foreign(std::string_view what, std::string_view value, std::string_view setting) {
  return render_error(
      {ErrorCode::kPermissionDenied, fmt::format("{} '{}' is not allowed here; if it should be, add it to {}", what, value, setting), {}});
}

Result<std::vector<std::string>> parse_list(std::string_view text, std::string_view setting, bool (*is_good)(std::string_view),
                                            std::string_view form) {
  std::vector<std::string> out;
  for (const std::string_view part : split(text, ',')) {
    const std::string entry = to_lower_ascii(trim(part));
    if (entry.empty()) continue;
    if (!is_good(entry)) return fail_field(ErrorCode::kInvalidArgument, setting, "{}: '{}' is not of the form {}", setting, entry, form);
    out.push_back(entry);
  }
  return out;
}

}  // namespace

bool BrowserPolicy::is_own_host(std::string_view name) const {
  if (http::is_loopback_host(name) || contains(options_.hosts, to_lower_ascii(name))) return true;
  return options_.address_hosts && http::is_ip_address(name);
}

bool BrowserPolicy::is_allowed_origin(std::string_view origin) const {
  return http::is_loopback_host(http::host_name_of(authority_of(origin))) || contains(options_.origins, to_lower_ascii(origin));
}

std::optional<http::Response> BrowserPolicy::refuse(const http::Request& request) const {
  const auto host = request.headers.find("host");
  if (host && !is_own_host(http::host_name_of(*host))) return foreign("host", *host, "server.allowed_hosts");
  const auto origin = request.headers.find("origin");
  if (origin && !is_open(request)) {
    const bool same_origin = host && !authority_of(*origin).empty() && authority_of(*origin) == *host;
    if (!same_origin && !is_allowed_origin(*origin)) return foreign("origin", *origin, "server.allowed_origins");
  }
  if (!origin && is_loaded_by_foreign_page(request)) {
    return render_error(
        {ErrorCode::kPermissionDenied, "pages of other sites may not load this; if one should, add it to server.allowed_origins", {}});
  }
  const bool has_token = is_open(request) && request.headers.contains("authorization");
  if (changes_state(request.method) && !has_token && a_form_could_send(request)) {
    return render_error({ErrorCode::kUnsupported,
                         "send this with content-type: application/json; a multipart upload needs an API key or the header "
                         "x-footnote-request: 1",
                         {}});
  }
  return std::nullopt;
}

/// Images, scripts and frames of another site's page carry no Origin. Browsers mark them with headers that pages can't set.
bool BrowserPolicy::is_loaded_by_foreign_page(const http::Request& request) const {
  if (request.headers.find("sec-fetch-site") != "cross-site" || is_open(request) || contains(options_.embeddable, request.path))
    return false;
  const bool is_link = request.headers.find("sec-fetch-mode") == "navigate" && request.headers.find("sec-fetch-dest") == "document";
  return !is_link || changes_state(request.method);
}

void BrowserPolicy::add_safety_headers(const http::Request& request, http::Headers& headers) const {
  const auto set = [&](std::string_view name, std::string_view value) {
    if (!headers.contains(name)) headers.set(name, value);
  };
  set("x-content-type-options", "nosniff");
  const std::string_view type = headers.find("content-type").value_or("");
  if (!type.starts_with("application/json") && !type.starts_with("text/event-stream") && !type.starts_with("application/x-ndjson")) return;
  set("cache-control", "no-store");
  const auto origin = request.headers.find("origin");
  if (!is_open(request) && !(origin && is_allowed_origin(*origin))) set("cross-origin-resource-policy", "same-origin");
}

void BrowserPolicy::add_cors_headers(const http::Request& request, http::Headers& headers) const {
  const auto origin = request.headers.find("origin");
  if (!origin) return;
  headers.add("vary", "origin");
  const bool is_preflight = request.method == http::Method::kOptions && request.headers.contains("access-control-request-method");
  if (is_open(request)) {
    // The handler decides who may read the answer; a preflight is not yet authenticated.
    if (!is_preflight) return;
    headers.set("access-control-allow-origin", *origin);
    headers.set("access-control-allow-methods", "GET, POST, OPTIONS");
    headers.set("access-control-allow-headers", kOpenHeadersTaken);
    headers.set("access-control-max-age", kPreflightSeconds);
    return;
  }
  if (!is_allowed_origin(*origin)) return;
  headers.set("access-control-allow-origin", *origin);
  if (is_preflight) {
    if (const auto methods = headers.find("allow")) headers.set("access-control-allow-methods", std::string(*methods));
    headers.set("access-control-allow-headers", kHeadersTaken);
    headers.set("access-control-max-age", kPreflightSeconds);
  } else {
    headers.set("access-control-expose-headers", kHeadersShown);
  }
}

bool is_from_own_page(const http::Request& request) {
  const bool changes = changes_state(request.method);
  const auto site = request.headers.find("sec-fetch-site");
  if (site && *site != "same-origin" && (*site != "none" || changes)) return false;
  const auto origin = request.headers.find("origin");
  if (!origin) return !changes;
  const auto host = request.headers.find("host");
  return host && !authority_of(*origin).empty() && authority_of(*origin) == *host;
}

Result<std::vector<std::string>> parse_allowed_hosts(std::string_view text) {
  return parse_list(
      text, "server.allowed_hosts", [](std::string_view entry) { return entry.find_first_of("/:@* ") == std::string_view::npos; },
      "docs.example.com (no scheme, no port)");
}

Result<std::vector<std::string>> parse_allowed_origins(std::string_view text) {
  return parse_list(
      text, "server.allowed_origins",
      [](std::string_view entry) {
        const std::string_view authority = authority_of(entry);
        return (entry.starts_with("https://") || entry.starts_with("http://")) && !authority.empty() &&
               authority.find_first_of("/@* ") == std::string_view::npos;
      },
      "https://www.example.com (scheme and host, no path)");
}

}  // namespace footnote::api
