#pragma once

#include <string>
#include <vector>

#include "api/route.h"
#include "base/text.h"
#include "http/url.h"

namespace footnote::api::testing {

/// Sends one request to the route with that pattern, bypassing the access check. Errors use the route's own format.
inline http::Response send(const std::vector<Route>& routes, std::string_view pattern, std::string body, const CallContext& call = {}) {
  for (const Route& route : routes) {
    if (route.pattern != pattern) continue;
    auto response =
        std::get<Handler>(route.handler)({}, {.method = route.method, .body = std::move(body), .request_id = "request-1"}, call);
    return response ? *std::move(response) : route.error_form(response.error());
  }
  return http::Response::text(404, "text/plain", "no such row");
}

/// A request sent by a caller of that workspace.
struct Sent {
  http::Method method = http::Method::kGet;
  std::string path;  ///< With its query: "/api/admin/gaps?agent_id=agt_1".
  std::string body = {};
  WorkspaceId workspace = {};
};

/// The values of "{name}" in the pattern; nullopt if the path does not match.
inline std::optional<http::NameValues> match_path(std::string_view pattern, std::string_view path) {
  const auto wanted = split(pattern, '/');
  const auto given = split(path, '/');
  if (wanted.size() != given.size()) return std::nullopt;
  http::NameValues out;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i].starts_with('{')) {
      out.emplace_back(wanted[i].substr(1, wanted[i].size() - 2), given[i]);
    } else if (wanted[i] != given[i]) {
      return std::nullopt;
    }
  }
  return out;
}

/// Sends it to the matching route, bypassing the access check; a literal path wins over one with a "{name}".
inline http::Response send(const std::vector<Route>& routes, const Sent& sent, const CallContext& call = {}) {
  const std::string_view path = std::string_view(sent.path).substr(0, sent.path.find('?'));
  const Route* best = nullptr;
  http::Request request{.method = sent.method, .path = std::string(path), .body = sent.body, .request_id = "request-1"};
  if (path.size() < sent.path.size()) request.query = http::parse_query(std::string_view(sent.path).substr(path.size() + 1)).value();
  for (const Route& route : routes) {
    const auto params = route.method == sent.method ? match_path(route.pattern, path) : std::nullopt;
    if (!params || (best != nullptr && params->size() >= request.path_params.size())) continue;
    best = &route;
    request.path_params = *params;
  }
  if (best == nullptr) return http::Response::text(404, "text/plain", "no such row");
  auto response = std::get<Handler>(best->handler)({.workspace = sent.workspace}, request, call);
  return response ? *std::move(response) : best->error_form(response.error());
}

}  // namespace footnote::api::testing
