#include "api/project_routes.h"

#include <chrono>

#include "api/project_wire.h"
#include "base/text.h"

namespace footnote::api {
namespace {

using access::Caller;

constexpr std::size_t kProjectBodyBytesMax = 256 << 10;
constexpr std::int64_t kFilesPageMax = 1'000;
constexpr int kHopsDefault = 1;

/// The canonical root, which must lie below a folder that the operator allowed. The same error for what is missing and what is forbidden.
Result<std::string> allowed_root(const ProjectServices& services, const std::string& given) {
  if (services.roots.empty()) {
    return fail(ErrorCode::kFailedPrecondition, "no project can be added: set projects.roots to the folders that may be indexed");
  }
  std::error_code error;
  const std::filesystem::path root = std::filesystem::canonical(given, error);
  if (!error && std::filesystem::is_directory(root, error) && !error) {
    for (const std::filesystem::path& allowed : services.roots) {
      const std::filesystem::path relative = root.lexically_relative(allowed);
      if (!relative.empty() && *relative.begin() != "..") return root.string();
    }
  }
  return fail_field(ErrorCode::kInvalidArgument, "root", "'root' is no folder below one of those in projects.roots");
}

Result<Project> find_project(const ProjectServices& services, const Caller& caller, const http::Request& request, const CallContext& call) {
  return services.projects.project(call, caller.workspace, request.param("project"));
}

JsonObject shown(const ProjectServices& services, const Caller& caller, const Project& project) {
  return render_project(project, services.runner.last(project.id), caller.may(KeyScope::kAdmin) ? ShowRoot::kYes : ShowRoot::kNo);
}

Result<http::Response> list_projects(const ProjectServices& services, const Caller& caller, const http::Request&, const CallContext& call) {
  FOOTNOTE_TRY(const auto projects, services.projects.projects(call, caller.workspace));
  JsonArray out;
  for (const Project& project : projects) out.push_back(shown(services, caller, project));
  return http::Response::json(200, JsonObject{{"projects", std::move(out)}});
}

Result<http::Response> get_project(const ProjectServices& services, const Caller& caller, const http::Request& request,
                                   const CallContext& call) {
  FOOTNOTE_TRY(const Project project, find_project(services, caller, request, call));
  return http::Response::json(200, shown(services, caller, project));
}

Result<http::Response> add_project(const ProjectServices& services, const Caller& caller, const http::Request& request,
                                   const CallContext& call) {
  FOOTNOTE_TRY(const Json body, parse_request_json(request.body));
  FOOTNOTE_TRY(Project wanted, parse_project(body, {.workspace = caller.workspace}));
  if (wanted.slug.empty()) return fail_field(ErrorCode::kInvalidArgument, "slug", "'slug' is missing: name the project");
  if (!wanted.root.empty()) {
    FOOTNOTE_TRY(wanted.root, allowed_root(services, wanted.root));
    wanted.status = ProjectStatus::kReady;
  }
  FOOTNOTE_TRY(const Project added, services.projects.add_project(call, wanted));
  if (added.status == ProjectStatus::kReady) FOOTNOTE_CHECK(services.runner.start(added));
  return http::Response::json(201, shown(services, caller, added));
}

Result<http::Response> change_project(const ProjectServices& services, const Caller& caller, const http::Request& request,
                                      const CallContext& call) {
  FOOTNOTE_TRY(const Project before, find_project(services, caller, request, call));
  FOOTNOTE_TRY(const Json body, parse_request_json(request.body));
  FOOTNOTE_TRY(Project wanted, parse_project(body, before));
  if (wanted.slug != before.slug) return fail_field(ErrorCode::kInvalidArgument, "slug", "'slug' can't be changed: add another project");
  if (wanted.root != before.root) {
    FOOTNOTE_TRY(wanted.root, allowed_root(services, wanted.root));
    wanted.status = ProjectStatus::kReady;
  }
  FOOTNOTE_TRY(const Project saved, services.projects.save_project(call, wanted));
  const bool starts = saved.status == ProjectStatus::kReady && (before.status != ProjectStatus::kReady || saved.root != before.root);
  if (starts && !saved.root.empty()) FOOTNOTE_CHECK(services.runner.start(saved));
  return http::Response::json(200, shown(services, caller, saved));
}

Result<http::Response> remove_project(const ProjectServices& services, const Caller& caller, const http::Request& request,
                                      const CallContext& call) {
  FOOTNOTE_TRY(const Project project, find_project(services, caller, request, call));
  const auto job = services.runner.last(project.id);
  if (job && (job->state == project::IndexJob::State::kQueued || job->state == project::IndexJob::State::kRunning)) {
    return fail(ErrorCode::kFailedPrecondition, "the project is being indexed: delete it when job {} has ended", job->id);
  }
  FOOTNOTE_CHECK(services.remove_corpus(call, project));
  FOOTNOTE_CHECK(services.projects.remove_project(call, caller.workspace, project.slug));
  services.memory.forget(project.id);
  return http::Response::json(200, JsonObject{{"slug", project.slug}, {"deleted", true}});
}

Result<http::Response> index_project(const ProjectServices& services, const Caller& caller, const http::Request& request,
                                     const CallContext& call) {
  FOOTNOTE_TRY(const Project project, find_project(services, caller, request, call));
  if (project.root.empty()) return fail(ErrorCode::kFailedPrecondition, "the project has no root yet: set 'root' first");
  FOOTNOTE_TRY(const project::IndexJob job, services.runner.start(project));
  return http::Response::json(202, JsonObject{{"project", project.slug}, {"job", render_job(job)}});
}

Result<http::Response> retrieve_chunks(const ProjectServices& services, const Caller& caller, const http::Request& request,
                                       const CallContext& call) {
  const auto started = std::chrono::steady_clock::now();
  FOOTNOTE_TRY(const Project project, find_project(services, caller, request, call));
  FOOTNOTE_TRY(const Json body, parse_request_json(request.body));
  FOOTNOTE_TRY(const AskedProject asked, parse_retrieve(body));
  FOOTNOTE_TRY(const project::RetrieveResult found, services.memory.retrieve(call, project, asked.query, asked.options));
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - started;
  return http::Response::json(200, render_retrieved(found, took.count()));
}

Result<http::Response> list_files(const ProjectServices& services, const Caller& caller, const http::Request& request,
                                  const CallContext& call) {
  FOOTNOTE_TRY(const Project project, find_project(services, caller, request, call));
  std::int64_t limit = kFilesPageMax;
  if (const auto given = request.query_value("limit")) {
    const auto number = parse_whole_number(*given);
    if (!number || *number < 1 || *number > kFilesPageMax) {
      return fail_field(ErrorCode::kInvalidArgument, "limit", "'limit' is a number from 1 to {}", kFilesPageMax);
    }
    limit = *number;
  }
  const std::string after(request.query_value("after").value_or(""));
  FOOTNOTE_TRY(const auto found, services.memory.files(call, project, after, static_cast<std::size_t>(limit)));
  JsonArray out;
  for (const auto& file : found) out.push_back(JsonObject{{"path", file.path}, {"chunks", file.chunks}, {"content_hash", file.hash}});
  const bool more = found.size() == static_cast<std::size_t>(limit);
  return http::Response::json(200, JsonObject{{"files", std::move(out)}, {"next", more ? Json(found.back().path) : Json(nullptr)}});
}

Result<http::Response> invalidate_file(const ProjectServices& services, const Caller& caller, const http::Request& request,
                                       const CallContext& call) {
  FOOTNOTE_TRY(const Project project, find_project(services, caller, request, call));
  FOOTNOTE_TRY(const Json body, parse_request_json(request.body));
  FOOTNOTE_TRY(const JsonReader reader, JsonReader::of(body));
  FOOTNOTE_CHECK(reader.only({"path"}));
  FOOTNOTE_TRY(const std::string path, reader.required_string("path", kProjectTextBytesMax));
  FOOTNOTE_TRY(const bool had, services.indexer.invalidate(call, project, path));
  if (!had) return fail_field(ErrorCode::kNotFound, "path", "no chunks of '{}' are indexed", path);
  return http::Response::json(200, JsonObject{{"path", path}, {"invalidated", true}});
}

Result<http::Response> show_graph(const ProjectServices& services, const Caller& caller, const http::Request& request,
                                  const CallContext& call) {
  FOOTNOTE_TRY(const Project project, find_project(services, caller, request, call));
  const auto symbol = request.query_value("symbol");
  if (!symbol || symbol->empty())
    return fail_field(ErrorCode::kInvalidArgument, "symbol", "name a symbol, route, table or path: ?symbol=...");
  int hops = kHopsDefault;
  if (const auto given = request.query_value("hops")) {
    const auto number = parse_whole_number<int>(*given);
    if (!number || *number < 1 || *number > code::kHopsMax) {
      return fail_field(ErrorCode::kInvalidArgument, "hops", "'hops' is a number from 1 to {}", code::kHopsMax);
    }
    hops = *number;
  }
  std::optional<JsonObject> out;
  std::vector<std::string> near;
  FOOTNOTE_CHECK(services.memory.with_graph(call, project, [&](const code::Graph& known) {
    const auto start = known.find(*symbol);
    if (start.empty()) {
      near = known.nearest(*symbol, 5);
    } else {
      out = render_graph(known, start, known.around(start, hops));
    }
  }));
  if (out) return http::Response::json(200, *std::move(out));
  return fail_field(ErrorCode::kNotFound, "symbol", "nothing is named '{}'{}", *symbol, near.empty() ? "" : "; near: " + join(near, ", "));
}

}  // namespace

std::vector<Route> make_project_routes(const ProjectServices& services) {
  using http::Method;
  const auto row = [&](KeyScope scope, Method method, std::string pattern, auto function, std::string summary) {
    return Route{.access = Access::with(scope),
                 .method = method,
                 .pattern = std::move(pattern),
                 .handler = bind(services, function),
                 .body_bytes_max = kProjectBodyBytesMax,
                 .summary = std::move(summary)};
  };
  return {row(KeyScope::kRead, Method::kGet, "/api/projects", list_projects, "Projects whose code is indexed"),
          row(KeyScope::kAdmin, Method::kPost, "/api/projects", add_project, "Add a project and index it"),
          row(KeyScope::kRead, Method::kGet, "/api/projects/{project}", get_project, "A project and its last index run"),
          row(KeyScope::kAdmin, Method::kPatch, "/api/projects/{project}", change_project, "Change a project"),
          row(KeyScope::kAdmin, Method::kDelete, "/api/projects/{project}", remove_project, "Delete a project and its chunks"),
          row(KeyScope::kIngest, Method::kPost, "/api/projects/{project}/index-rag", index_project, "Index what changed in a project"),
          row(KeyScope::kRead, Method::kPost, "/api/projects/{project}/retrieve", retrieve_chunks,
              "Chunks of a project that answer a question"),
          row(KeyScope::kRead, Method::kGet, "/api/projects/{project}/files", list_files, "Indexed files of a project"),
          row(KeyScope::kIngest, Method::kPost, "/api/projects/{project}/invalidate", invalidate_file, "Forget the chunks of one file"),
          row(KeyScope::kRead, Method::kGet, "/api/projects/{project}/graph", show_graph, "What is around a symbol, route or table")};
}

}  // namespace footnote::api
