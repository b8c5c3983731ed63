#include "fakes/memory_project_store.h"

namespace footnote::fakes {
namespace {

std::unexpected<Error> no_such_project(std::string_view slug) { return fail(ErrorCode::kNotFound, "there is no project '{}'", slug); }

}  // namespace

Result<std::vector<Project>> MemoryProjectStore::projects(const CallContext& call, WorkspaceId workspace) const {
  FOOTNOTE_CHECK(call.check());
  const MutexLock lock(mutex_);
  std::vector<Project> out;
  for (const auto& [key, project] : projects_) {
    if (key.first == workspace.value) out.push_back(project);
  }
  return out;
}

Result<Project> MemoryProjectStore::project(const CallContext& call, WorkspaceId workspace, std::string_view slug) const {
  FOOTNOTE_CHECK(call.check());
  const MutexLock lock(mutex_);
  const auto found = projects_.find({workspace.value, std::string(slug)});
  if (found == projects_.end()) return no_such_project(slug);
  return found->second;
}

Result<Project> MemoryProjectStore::add_project(const CallContext& call, const Project& project) {
  FOOTNOTE_CHECK(call.check());
  FOOTNOTE_CHECK(check_project(project));
  const MutexLock lock(mutex_);
  const Key key{project.workspace.value, project.slug};
  if (projects_.contains(key)) return fail_field(ErrorCode::kAlreadyExists, "slug", "there is a project '{}' already", project.slug);
  std::size_t count = 0;
  for (const auto& [other, ignored] : projects_) count += other.first == key.first ? 1 : 0;
  if (count >= kProjectsMax) return fail(ErrorCode::kResourceExhausted, "a workspace has at most {} projects: remove one", kProjectsMax);
  Project added = project;
  added.id = {++last_id_};
  added.created_at = clock_.now();
  return projects_[key] = added;
}

Result<Project> MemoryProjectStore::save_project(const CallContext& call, const Project& project) {
  FOOTNOTE_CHECK(call.check());
  FOOTNOTE_CHECK(check_project(project));
  const MutexLock lock(mutex_);
  const auto found = projects_.find({project.workspace.value, project.slug});
  if (found == projects_.end()) return no_such_project(project.slug);
  Project saved = project;
  saved.id = found->second.id;
  saved.created_at = found->second.created_at;
  return found->second = saved;
}

Result<void> MemoryProjectStore::remove_project(const CallContext& call, WorkspaceId workspace, std::string_view slug) {
  FOOTNOTE_CHECK(call.check());
  const MutexLock lock(mutex_);
  if (projects_.erase({workspace.value, std::string(slug)}) == 0) return no_such_project(slug);
  return {};
}

}  // namespace footnote::fakes
