#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "domain/ids.h"

namespace footnote {

using ProjectId = Id<struct ProjectTag>;

inline constexpr std::size_t kProjectsMax = 1'000;  ///< Of one workspace.
inline constexpr std::size_t kProjectSlugBytesMax = 100;
inline constexpr std::size_t kProjectTextBytesMax = 2'000;

/// kPending: known, not readable yet. kReady: its root can be indexed. kFailed: the last index run failed; `problem` says why.
enum class ProjectStatus { kPending, kReady, kFailed };

/// "pending", "ready", "failed"
std::string_view to_string(ProjectStatus status);
std::optional<ProjectStatus> parse_project_status(std::string_view name);

/// A code base that coding agents ask. Its chunks are a corpus of their own, see project_corpus().
struct Project {
  ProjectId id;
  WorkspaceId workspace;
  std::string slug;  ///< Unique in its workspace: lower-case letters, digits, "-", "_" and ".".
  std::string root;  ///< An absolute path; never shown to callers of the server who are not administrators.
  std::string repository_url;
  std::string default_branch = "main";
  std::string framework;  ///< "laravel", "vue" ...; empty: none detected.
  std::string language;   ///< The language of most of its code; empty: not indexed yet.
  ProjectStatus status = ProjectStatus::kPending;
  std::string problem = {};
  UtcTime created_at;
  std::optional<UtcTime> indexed_at;

  bool operator==(const Project&) const = default;
};

/// kInvalidArgument names the field.
Result<void> check_project(const Project& project);

/// The name of the corpus that holds the project's chunks.
std::string project_corpus(std::string_view slug);

}  // namespace footnote
