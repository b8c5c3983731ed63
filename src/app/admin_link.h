#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "app/commands.h"
#include "base/json.h"
#include "http/message.h"

namespace footnote::app {

/// The routes below /api/admin, in this process or through the server that holds the data folder: the same door, the same JSON.
class AdminLink {
 public:
  virtual ~AdminLink() = default;
  /// The JSON of a good answer. `body` may be null.
  virtual Result<Json> send(const CallContext& call, http::Method method, const std::string& target, const Json* body) = 0;
};

/// A store is made when there is none: keys may come before documents. kFailedPrecondition: another process has the folder.
Result<std::unique_ptr<AdminLink>> open_admin_link(const cli::CommandContext& context);

}  // namespace footnote::app
