#pragma once

#include <memory>

#include "app/folder_access.h"
#include "cli/commands.h"
#include "cli/link.h"

namespace footnote::app {

/// What a command needs from the data folder if no server holds it.
enum class Needs {
  kStore,    ///< Documents, traces, keys, snapshots, checks, rebuilds: no model is opened.
  kModel,    ///< Ingest: models are opened, indexes are not touched.
  kIndexes,  ///< Questions: indexes are built.
};

struct LinkOptions {
  Needs needs = Needs::kStore;
  Missing missing = Missing::kRefuse;
  std::string_view workspace = {};  ///< Empty: the configured one.
};

/// The routes over the data folder: those of the server that holds it, or of this process. kFailedPrecondition: another process holds the
/// folder, there is no model, or with Missing::kRefuse nothing is indexed yet.
Result<std::unique_ptr<cli::Link>> open_link(const cli::CommandContext& context, const LinkOptions& options);

}  // namespace footnote::app
