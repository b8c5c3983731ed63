#pragma once

#include "ports/project_store.h"
#include "providers/sqlite/sqlite_store.h"

namespace footnote {

/// Implements ports/project_store.h (ProjectStore) over the embedded database.
class SqliteProjectStore final : public ProjectStore {
 public:
  explicit SqliteProjectStore(SqliteStore& store) : store_(store) {}

  Result<std::vector<Project>> projects(const CallContext& call, WorkspaceId workspace) const override;
  Result<Project> project(const CallContext& call, WorkspaceId workspace, std::string_view slug) const override;
  Result<Project> add_project(const CallContext& call, const Project& project) override;
  Result<Project> save_project(const CallContext& call, const Project& project) override;
  Result<void> remove_project(const CallContext& call, WorkspaceId workspace, std::string_view slug) override;

 private:
  SqliteStore& store_;
};

}  // namespace footnote
