#pragma once

#include <variant>

#include "config/settings.h"
#include "providers/sqlite/data_folder.h"

namespace footnote::app {

/// What to do if the data folder has no store yet.
enum class Missing { kCreate, kRefuse };

/// A server holds the folder: commands go through it.
struct HeldByServer {
  pid_t pid = 0;
  std::string url;
  std::string token;  ///< Authenticates this process to the server, because it can read the folder.
};

/// Either this process now holds the data folder, or a server does.
using FolderAccess = std::variant<DataFolder, HeldByServer>;

/// kFailedPrecondition: a process that is not a server holds the folder, or with Missing::kRefuse there is no store yet; the message says
/// what to do.
Result<FolderAccess> access_folder(const Settings& settings, Missing missing);

/// The option that a suggested command needs to use the same folder: " --data PATH", quoted for a shell; empty for the default.
std::string data_flag(const Settings& settings);

/// For commands that need exclusive access: serve, restore, and measuring (eval, bench). All other commands use open_link.
/// kFailedPrecondition names the server and what to do.
Result<DataFolder> own_folder(const Settings& settings, Missing missing);

}  // namespace footnote::app
