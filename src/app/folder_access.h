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

/// For what needs the folder alone: serving, restoring into it, and measuring (eval, bench). All other commands use open_link.
/// kFailedPrecondition names the server and what to do.
Result<DataFolder> own_folder(const Settings& settings, Missing missing);

}  // namespace footnote::app
