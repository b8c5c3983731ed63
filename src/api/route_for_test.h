#pragma once

#include <string>
#include <vector>

#include "api/route.h"

namespace footnote::api::testing {

/// Sends one request to the row of that pattern, past the door. Errors take the row's own form.
inline http::Response send(const std::vector<Route>& routes, std::string_view pattern, std::string body, const CallContext& call = {}) {
  for (const Route& route : routes) {
    if (route.pattern != pattern) continue;
    auto response =
        std::get<Handler>(route.handler)({}, {.method = route.method, .body = std::move(body), .request_id = "request-1"}, call);
    return response ? *std::move(response) : route.error_form(response.error());
  }
  return http::Response::text(404, "text/plain", "no such row");
}

}  // namespace footnote::api::testing
