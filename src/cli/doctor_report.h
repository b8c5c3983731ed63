#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "cli/terminal.h"

namespace footnote::cli {

enum class Health { kOk, kNote, kBroken };

/// What one look found. `fix` says what to do; empty when there is nothing to do.
struct Check {
  std::string name;
  Health health = Health::kOk;
  std::string detail;
  std::string fix;
  JsonObject facts;
  std::string label = {};  ///< The name for people, where it is another one.

  const std::string& shown_name() const { return label.empty() ? name : label; }
};

/// For people: one line a check, what to fix below it.
std::string render_checks(const std::vector<Check>& checks, Paint paint);
/// {"ok": bool, "checks":[{"name","status":"ok|note|broken","detail","fix",...facts}]}
Json checks_json(const std::vector<Check>& checks);

/// Checks of that health.
std::size_t count(const std::vector<Check>& checks, Health health);

}  // namespace footnote::cli
