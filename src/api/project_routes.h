#pragma once

#include <filesystem>
#include <functional>
#include <vector>

#include "api/route.h"
#include "ports/project_store.h"
#include "project/index_runner.h"
#include "project/memory.h"

namespace footnote::api {

/// Dependencies of project memory. Borrowed.
struct ProjectServices {
  ProjectStore& projects;
  const project::Indexer& indexer;
  project::IndexRunner& runner;
  const project::Memory& memory;
  const Clock& clock;
  std::vector<std::filesystem::path> roots;  ///< A project's root must lie below one of these; empty: no project can be added.
  /// Deletes the corpus of a removed project with its indexes.
  std::function<Result<void>(const CallContext&, const Project&)> remove_corpus;
};

/// /api/projects: code bases that coding agents ask. See docs/project-memory.md.
std::vector<Route> make_project_routes(const ProjectServices& services);

}  // namespace footnote::api
