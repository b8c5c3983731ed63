#include "providers/sqlite/sqlite_project_store.h"

#include "providers/sqlite/rows.h"

namespace footnote {
namespace {

#define FOOTNOTE_PROJECT_COLUMNS \
  "id, workspace_id, slug, root, repository_url, default_branch, framework, language, status, problem, created_at, indexed_at"

std::unexpected<Error> no_project(std::string_view slug) { return fail(ErrorCode::kNotFound, "there is no project '{}'", slug); }

/// Reads FOOTNOTE_PROJECT_COLUMNS.
Project project_from(const sql::Statement& row) {
  return {.id = {row.integer(0)},
          .workspace = {row.integer(1)},
          .slug = std::string(row.text(2)),
          .root = std::string(row.text(3)),
          .repository_url = std::string(row.text(4)),
          .default_branch = std::string(row.text(5)),
          .framework = std::string(row.text(6)),
          .language = std::string(row.text(7)),
          .status = parse_project_status(row.text(8)).value_or(ProjectStatus::kPending),
          .problem = std::string(row.text(9)),
          .created_at = time_from(row.integer(10)),
          .indexed_at = time_from(row.optional_integer(11))};
}

Result<Project> read_project(sql::Database& database, WorkspaceId workspace, std::string_view slug) {
  FOOTNOTE_TRY(auto find, database.prepare("SELECT " FOOTNOTE_PROJECT_COLUMNS " FROM projects WHERE workspace_id = ? AND slug = ?"));
  find.bind(workspace.value, slug);
  FOOTNOTE_TRY(const bool found, find.step());
  if (!found) return no_project(slug);
  return project_from(find);
}

}  // namespace

Result<std::vector<Project>> SqliteProjectStore::projects(const CallContext& call, WorkspaceId workspace) const {
  return store_.read(call, [&](sql::Database& database) -> Result<std::vector<Project>> {
    FOOTNOTE_TRY(auto list, database.prepare("SELECT " FOOTNOTE_PROJECT_COLUMNS " FROM projects WHERE workspace_id = ? ORDER BY slug"));
    list.bind(workspace.value);
    return list.collect<Project>([](const sql::Statement& row) { return project_from(row); });
  });
}

Result<Project> SqliteProjectStore::project(const CallContext& call, WorkspaceId workspace, std::string_view slug) const {
  return store_.read(call, [&](sql::Database& database) { return read_project(database, workspace, slug); });
}

Result<Project> SqliteProjectStore::add_project(const CallContext& call, const Project& project) {
  FOOTNOTE_CHECK(check_project(project));
  return store_.write(call, [&](sql::Database& database) -> Result<Project> {
    if (read_project(database, project.workspace, project.slug)) {
      return fail_field(ErrorCode::kAlreadyExists, "slug", "there is a project '{}' already", project.slug);
    }
    FOOTNOTE_TRY(auto count, database.prepare("SELECT count(*) FROM projects WHERE workspace_id = ?"));
    count.bind(project.workspace.value);
    FOOTNOTE_CHECK(count.step());
    if (count.integer(0) >= static_cast<std::int64_t>(kProjectsMax)) {
      return fail(ErrorCode::kResourceExhausted, "a workspace has at most {} projects: remove one", kProjectsMax);
    }
    FOOTNOTE_TRY(auto insert,
                 database.prepare("INSERT INTO projects (workspace_id, slug, root, repository_url, default_branch, framework, "
                                  "language, status, problem, created_at, indexed_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"));
    insert.bind(project.workspace.value, project.slug, project.root, project.repository_url, project.default_branch, project.framework,
                project.language, to_string(project.status), project.problem, to_row(store_.clock().now()), to_row(project.indexed_at));
    FOOTNOTE_CHECK(insert.run());
    return read_project(database, project.workspace, project.slug);
  });
}

Result<Project> SqliteProjectStore::save_project(const CallContext& call, const Project& project) {
  FOOTNOTE_CHECK(check_project(project));
  return store_.write(call, [&](sql::Database& database) -> Result<Project> {
    FOOTNOTE_TRY(auto update,
                 database.prepare("UPDATE projects SET root = ?, repository_url = ?, default_branch = ?, framework = ?, "
                                  "language = ?, status = ?, problem = ?, indexed_at = ? WHERE workspace_id = ? AND slug = ?"));
    update.bind(project.root, project.repository_url, project.default_branch, project.framework, project.language,
                to_string(project.status), project.problem, to_row(project.indexed_at), project.workspace.value, project.slug);
    FOOTNOTE_CHECK(update.run());
    return read_project(database, project.workspace, project.slug);
  });
}

Result<void> SqliteProjectStore::remove_project(const CallContext& call, WorkspaceId workspace, std::string_view slug) {
  return store_.write(call, [&](sql::Database& database) -> Result<void> {
    FOOTNOTE_TRY(auto erase, database.prepare("DELETE FROM projects WHERE workspace_id = ? AND slug = ?"));
    erase.bind(workspace.value, slug);
    FOOTNOTE_CHECK(erase.run());
    if (database.changed_rows() == 0) return no_project(slug);
    return {};
  });
}

#undef FOOTNOTE_PROJECT_COLUMNS

}  // namespace footnote
