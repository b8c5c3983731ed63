#pragma once

#include <variant>

#include "config/settings.h"
#include "providers/sqlite/data_folder.h"

namespace footnote::app {

/// What to do when there is no store in the data folder yet.
enum class Missing { kCreate, kRefuse };

/// A server has the folder: commands go through it.
struct HeldByServer {
  pid_t pid = 0;
  std::string url;
  std::string token;  ///< Lets us in there, as we can read the folder.
};

/// Either the data folder is ours now, or a server has it.
using FolderAccess = std::variant<DataFolder, HeldByServer>;

/// kFailedPrecondition: a process that serves nothing has the folder, or with Missing::kRefuse there is no store
/// yet; the message says what to do.
Result<FolderAccess> access_folder(const Settings& settings, Missing missing);

/// What a suggested command needs to reach the same folder: " --data PATH", quoted for a shell; nothing where it is the default.
std::string data_flag(const Settings& settings);

/// For commands that can't go through a server. kFailedPrecondition names the server.
Result<DataFolder> own_folder(const Settings& settings, Missing missing);

}  // namespace footnote::app
