#pragma once

#include <map>

#include "base/clock.h"
#include "base/mutex.h"
#include "ports/project_store.h"

namespace footnote::fakes {

/// Projects in memory. It keeps every promise of its port but durability. Thread-safe. Borrows the clock.
class MemoryProjectStore final : public ProjectStore {
 public:
  explicit MemoryProjectStore(const Clock& clock) : clock_(clock) {}

  Result<std::vector<Project>> projects(const CallContext& call, WorkspaceId workspace) const override;
  Result<Project> project(const CallContext& call, WorkspaceId workspace, std::string_view slug) const override;
  Result<Project> add_project(const CallContext& call, const Project& project) override;
  Result<Project> save_project(const CallContext& call, const Project& project) override;
  Result<void> remove_project(const CallContext& call, WorkspaceId workspace, std::string_view slug) override;

 private:
  using Key = std::pair<std::int64_t, std::string>;

  const Clock& clock_;
  mutable Mutex mutex_;
  std::map<Key, Project> projects_ FOOTNOTE_TSA(guarded_by(mutex_));
  std::int64_t last_id_ FOOTNOTE_TSA(guarded_by(mutex_)) = 0;
};

}  // namespace footnote::fakes
