#pragma once

#include <string_view>
#include <vector>

#include "base/call_context.h"
#include "domain/project.h"

namespace footnote {

/// Projects of workspaces. Their graphs are not stored: they follow from the stored texts, like an index. Thread-safe; writes are durable
/// when they return. Projects of other workspaces return kNotFound, exactly like projects that never existed.
class ProjectStore {
 public:
  virtual ~ProjectStore() = default;
  /// Ordered by slug.
  virtual Result<std::vector<Project>> projects(const CallContext& call, WorkspaceId workspace) const = 0;
  /// kNotFound.
  virtual Result<Project> project(const CallContext& call, WorkspaceId workspace, std::string_view slug) const = 0;
  /// Sets id and created_at. kInvalidArgument: see check_project. kAlreadyExists. kResourceExhausted: beyond kProjectsMax.
  virtual Result<Project> add_project(const CallContext& call, const Project& project) = 0;
  /// Replaces everything but id, workspace, slug and created_at. kNotFound, kInvalidArgument.
  virtual Result<Project> save_project(const CallContext& call, const Project& project) = 0;
  /// kNotFound. The corpus is left to the caller.
  virtual Result<void> remove_project(const CallContext& call, WorkspaceId workspace, std::string_view slug) = 0;
};

}  // namespace footnote
