#include "api/check_routes.h"

namespace footnote::api {
namespace {

/// The check reads every page of the store.
constexpr std::chrono::minutes kCheckTimeout{10};

}  // namespace

std::string_view to_string(Health health) {
  switch (health) {
    case Health::kOk: return "ok";
    case Health::kNote: return "note";
    case Health::kBroken: return "broken";
  }
  return "broken";
}

JsonObject render_check(const Check& check) {
  JsonObject out{{"name", check.name},
                 {"status", to_string(check.health)},
                 {"detail", check.detail},
                 {"fix", check.fix.empty() ? Json(nullptr) : Json(check.fix)}};
  for (const auto& [name, value] : check.facts) out[name] = value;
  return out;
}

std::vector<Route> make_check_routes(CheckStore check) {
  const auto checks = [check = std::move(check)](const access::Caller& caller, const http::Request&,
                                                 const CallContext& call) -> Result<http::Response> {
    if (!caller.is_operator)
      return fail(ErrorCode::kPermissionDenied, "the store contains every workspace, so only operators may check it");
    JsonArray out;
    for (const Check& found : check(call, caller.workspace)) out.emplace_back(render_check(found));
    return http::Response::json(200, JsonObject{{"checks", std::move(out)}});
  };
  return {Route{.access = Access::with(KeyScope::kAdmin),
                .method = http::Method::kGet,
                .pattern = "/api/admin/checks",
                .handler = Handler(checks),
                .timeout = kCheckTimeout,
                .summary = "Check the store and its indexes, for `footnote doctor`"}};
}

}  // namespace footnote::api
