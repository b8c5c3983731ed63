#pragma once

#include <string>
#include <vector>

#include "api/check_routes.h"
#include "base/json.h"
#include "cli/terminal.h"

namespace footnote::cli {

using api::Check;
using api::Health;

/// For people: one line per check, with the fix below it.
std::string render_checks(const std::vector<Check>& checks, Paint paint);
/// {"ok": bool, "checks":[{"name","status":"ok|note|broken","detail","fix",...facts}]}
Json checks_json(const std::vector<Check>& checks);

/// Parses a check from its JSON.
Check parse_check(const Json& rendered);

/// Number of checks with that health.
std::size_t count(const std::vector<Check>& checks, Health health);

}  // namespace footnote::cli
