#include "domain/project.h"

#include <algorithm>

#include "base/text.h"
#include "base/utf8.h"

namespace footnote {

std::string_view to_string(ProjectStatus status) {
  switch (status) {
    case ProjectStatus::kPending: return "pending";
    case ProjectStatus::kReady: return "ready";
    case ProjectStatus::kFailed: return "failed";
  }
  return "";
}

std::optional<ProjectStatus> parse_project_status(std::string_view name) {
  for (const ProjectStatus status : {ProjectStatus::kPending, ProjectStatus::kReady, ProjectStatus::kFailed}) {
    if (to_string(status) == name) return status;
  }
  return std::nullopt;
}

Result<void> check_project(const Project& project) {
  const auto fits = [](char c) { return is_ascii_lower(c) || is_ascii_digit(c) || c == '-' || c == '_' || c == '.'; };
  if (project.slug.empty() || project.slug.size() > kProjectSlugBytesMax || !std::ranges::all_of(project.slug, fits)) {
    return fail_field(ErrorCode::kInvalidArgument, "slug", "'slug' has 1 to {} lower-case letters, digits, '-', '_' or '.'",
                      kProjectSlugBytesMax);
  }
  for (const auto& [field, text] : {std::pair{"root", &project.root}, std::pair{"repository_url", &project.repository_url},
                                    std::pair{"default_branch", &project.default_branch}}) {
    if (text->size() > kProjectTextBytesMax || !is_valid_utf8(*text)) {
      return fail_field(ErrorCode::kInvalidArgument, field, "'{}' has at most {} bytes of UTF-8", field, kProjectTextBytesMax);
    }
  }
  return {};
}

std::string project_corpus(std::string_view slug) { return "project:" + std::string(slug); }

}  // namespace footnote
