#include "upkeep/stores.h"

namespace footnote::upkeep {

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

Result<std::vector<Corpus>> all_corpora(const CallContext& call, const CatalogStore& catalog) {
  FOOTNOTE_TRY(const auto workspaces, catalog.workspaces(call));
  std::vector<Corpus> out;
  for (const Workspace& workspace : workspaces) {
    FOOTNOTE_TRY(auto corpora, catalog.corpora(call, workspace.id));
    std::ranges::move(corpora, std::back_inserter(out));
  }
  return out;
}

}  // namespace footnote::upkeep
