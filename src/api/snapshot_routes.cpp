#include "api/snapshot_routes.h"

#include "base/json.h"

namespace footnote::api {
namespace {

constexpr std::chrono::minutes kSnapshotTimeout{10};

}  // namespace

std::vector<Route> make_snapshot_routes(CopyStore copy) {
  const auto snapshot = [copy = std::move(copy)](const access::Caller& caller, const http::Request&,
                                                 const CallContext& call) -> Result<http::Response> {
    if (!caller.is_operator) {
      return fail(ErrorCode::kPermissionDenied,
                  "a snapshot contains every workspace: create it with `footnote snapshot` on the server's machine");
    }
    FOOTNOTE_TRY(const std::string name, copy(call));
    return http::Response::json(201, JsonObject{{"copy", name}});
  };
  return {Route{.access = Access::with(KeyScope::kAdmin),
                .method = http::Method::kPost,
                .pattern = "/api/admin/snapshot",
                .handler = Handler(snapshot),
                .timeout = kSnapshotTimeout,
                .summary = "Copy the store inside the data folder, for `footnote snapshot`"}};
}

}  // namespace footnote::api
