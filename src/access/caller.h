#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "domain/catalog.h"

namespace footnote::access {

/// The caller and its permissions. Everything that a caller names is looked up only in its workspace.
struct Caller {
  WorkspaceId workspace;
  std::vector<KeyScope> scopes;
  ApiKeyId key;                          ///< None: a caller that can read the data folder, or a loopback caller of a server without keys.
  std::vector<std::string> labels = {};  ///< Documents with any of these labels are found.
  ApiKeyId principal = {};               ///< The same for a key and those that replaced it.
  bool is_operator = false;              ///< May create workspaces, and keys of every workspace.

  /// kAdmin covers kRead and kIngest; kVisitor is never implied.
  bool may(KeyScope wanted) const {
    const auto has = [this](KeyScope scope) { return std::ranges::find(scopes, scope) != scopes.end(); };
    return has(wanted) || (wanted != KeyScope::kVisitor && has(KeyScope::kAdmin));
  }
};

}  // namespace footnote::access
