#include "app/stores.h"

namespace footnote::app {

Result<std::unique_ptr<Stores>> Stores::open(const CallContext& call, DataFolder folder, std::string_view workspace_name) {
  auto clock = std::make_unique<SystemClock>();
  FOOTNOTE_TRY(auto store, SqliteStore::open(folder.path(), SqliteStoreOptions{}, *clock));
  auto stores = std::unique_ptr<Stores>(new Stores(std::move(folder), std::move(clock), std::move(store)));
  auto workspace = stores->catalog_.find_workspace(call, workspace_name);
  if (!workspace) {
    workspace.error().message += "; make it with `footnote workspaces create`, or name another one with --workspace";
    return std::unexpected(std::move(workspace).error());
  }
  stores->workspace_ = workspace->id;
  return stores;
}

}  // namespace footnote::app
