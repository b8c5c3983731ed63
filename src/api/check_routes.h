#pragma once

#include <functional>
#include <string>
#include <vector>

#include "api/route.h"
#include "base/json.h"

namespace footnote::api {

enum class Health { kOk, kNote, kBroken };

/// The result of one check. `fix` says what to do; empty if nothing.
struct Check {
  std::string name;
  Health health = Health::kOk;
  std::string detail;
  std::string fix;
  JsonObject facts;
};

/// "ok", "note" or "broken"
std::string_view to_string(Health health);

/// {"name", "status", "detail", "fix", ...facts}
JsonObject render_check(const Check& check);

/// Checks the stored bytes, and the corpora and index files of one workspace.
using CheckStore = std::function<std::vector<Check>(const CallContext&, WorkspaceId)>;

/// GET /api/admin/checks, operators only: {"checks": [...]}, for `footnote doctor`.
std::vector<Route> make_check_routes(CheckStore check);

}  // namespace footnote::api
