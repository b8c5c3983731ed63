#pragma once

#include "api/project_routes.h"
#include "app/answer_parts.h"
#include "project/index_runner.h"
#include "project/memory.h"

namespace footnote::app {

/// Project memory: /api/projects, and the thread that indexes projects.
class ProjectDoor {
 public:
  /// Borrows `parts`.
  ProjectDoor(const Settings& settings, AnswerParts& parts);

  api::ProjectServices services();

 private:
  Result<void> remove_corpus(const CallContext& call, const Project& project);

  AnswerParts& parts_;
  const std::vector<std::filesystem::path> roots_;
  const project::Indexer indexer_;
  const project::Memory memory_;
  project::IndexRunner runner_;  // The last member: its thread uses the others.
};

}  // namespace footnote::app
