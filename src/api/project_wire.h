#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "domain/project.h"
#include "project/index_runner.h"
#include "project/memory.h"

namespace footnote::api {

/// The fields of a request over those of `before`. kInvalidArgument names the field.
Result<Project> parse_project(const Json& body, Project before);
/// Who may see where a project lies on the operator's disk.
enum class ShowRoot { kNo, kYes };
JsonObject render_project(const Project& project, const std::optional<project::IndexJob>& job, ShowRoot root);
JsonObject render_job(const project::IndexJob& job);

struct AskedProject {
  std::string query;
  project::RetrieveOptions options;
};
Result<AskedProject> parse_retrieve(const Json& body);
JsonObject render_retrieved(const project::RetrieveResult& found, double latency_ms);

JsonObject render_graph(const code::Graph& graph, const std::vector<const code::GraphNode*>& start,
                        const std::vector<code::GraphEdge>& edges);

}  // namespace footnote::api
