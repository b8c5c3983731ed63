#include "app/stores.h"

namespace footnote::app {

Result<std::unique_ptr<Stores>> Stores::open(const CallContext& call, DataFolder folder) {
  auto clock = std::make_unique<SystemClock>();
  FOOTNOTE_TRY(auto store, SqliteStore::open(folder.path(), SqliteStoreOptions{}, *clock));
  auto stores = std::unique_ptr<Stores>(new Stores(std::move(folder), std::move(clock), std::move(store)));
  FOOTNOTE_TRY(const Workspace workspace, stores->catalog_.find_workspace(call, kDefaultWorkspace));
  stores->workspace_ = workspace.id;
  return stores;
}

}  // namespace footnote::app
