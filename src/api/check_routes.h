#pragma once

#include <functional>
#include <string>
#include <vector>

#include "api/route.h"
#include "base/json.h"

namespace footnote::api {

enum class Health { kOk, kNote, kBroken };

/// What one look found. `fix` says what to do; empty when there is nothing to do.
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

/// Looks at the stored bytes, and at the corpora and index files of one workspace.
using CheckStore = std::function<std::vector<Check>(const CallContext&, WorkspaceId)>;

/// GET /api/admin/checks, for operators alone: {"checks": [...]}, for `footnote doctor`.
std::vector<Route> make_check_routes(CheckStore check);

}  // namespace footnote::api
