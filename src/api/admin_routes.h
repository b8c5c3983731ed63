#pragma once

#include <vector>

#include "api/routes.h"

namespace footnote::api {

/// Dependencies of these routes. Borrowed.
struct AdminServices {
  access::Keys& keys;
  CatalogStore& catalog;
};

/// Keys and workspaces. An admin's key manages the keys of its own workspace. An operator (an admin of the default workspace, or the owner
/// of the data folder) manages all keys and creates workspaces.
std::vector<Route> make_admin_routes(const AdminServices& services);

/// A key without its secret text.
JsonObject render_key(const ApiKey& key, std::string_view workspace, UtcTime now);
JsonObject render_workspace(const Workspace& workspace);

}  // namespace footnote::api
