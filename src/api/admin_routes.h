#pragma once

#include <vector>

#include "api/routes.h"

namespace footnote::api {

/// What these routes need. Borrowed.
struct AdminServices {
  access::Keys& keys;
  CatalogStore& catalog;
};

/// Keys and workspaces. An admin's key reaches the keys of its own workspace; an operator's (an admin of the default workspace, or the
/// owner of the data folder) all of them, and makes workspaces.
std::vector<Route> make_admin_routes(const AdminServices& services);

/// A key as it is shown: everything but its text.
JsonObject render_key(const ApiKey& key, std::string_view workspace, UtcTime now);
JsonObject render_workspace(const Workspace& workspace);

}  // namespace footnote::api
