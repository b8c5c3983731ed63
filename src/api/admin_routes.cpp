#include "api/admin_routes.h"

#include "base/text.h"

namespace footnote::api {
namespace {

using access::Caller;

constexpr std::size_t kNameBytesMax = 200;
constexpr std::size_t kScopesMax = 4;

Json time_json(const std::optional<UtcTime>& time) { return time ? Json(to_rfc3339(*time)) : Json(nullptr); }

/// The workspace whose keys to manage: the caller's, or the one that an operator names. For other callers a foreign one is kNotFound.
Result<Workspace> find_meant(const AdminServices& services, const Caller& caller, const CallContext& call,
                             const std::optional<std::string>& name) {
  FOOTNOTE_TRY(const auto all, services.catalog.workspaces(call));
  for (const Workspace& workspace : all) {
    if (name ? workspace.name == *name && (caller.is_operator || workspace.id == caller.workspace) : workspace.id == caller.workspace) {
      return workspace;
    }
  }
  return fail_field(ErrorCode::kNotFound, "workspace", "there is no workspace '{}'", name.value_or(""));
}

std::optional<std::string> asked_workspace(const http::Request& request) {
  const auto name = request.query_value("workspace");
  return name ? std::optional(std::string(*name)) : std::nullopt;
}

Result<ApiKeyId> parse_key_id(const http::Request& request) {
  const std::string_view text = request.param("id");
  const auto id = parse_whole_number(text);
  if (!id) return fail(ErrorCode::kNotFound, "there is no key '{}'", text);
  return ApiKeyId{*id};
}

http::Response render_issued(const access::IssuedKey& issued, const Workspace& workspace, UtcTime now) {
  JsonObject body = render_key(issued.key, workspace.name, now);
  body["key"] = issued.text;
  http::Response response = http::Response::json(201, body);
  response.headers.set("cache-control", "no-store");
  return response;
}

access::KeyMaker maker_of(const Caller& caller) {
  return caller.is_operator ? access::KeyMaker::kOperator : access::KeyMaker::kWorkspaceAdmin;
}

Result<access::NewKey> parse_new_key(const JsonReader& reader) {
  FOOTNOTE_CHECK(reader.only({"name", "scopes", "workspace", "expires_at", "requests_per_minute", "requests_per_day", "labels"}));
  access::NewKey wanted;
  FOOTNOTE_TRY(wanted.name, reader.required_string("name", kNameBytesMax));
  FOOTNOTE_TRY(const auto scopes, reader.optional_strings("scopes", kScopesMax, kNameBytesMax));
  for (const std::string& name : scopes.value_or(std::vector<std::string>{})) {
    const auto scope = parse_key_scope(name);
    if (!scope) return fail_field(ErrorCode::kInvalidArgument, "scopes", "unknown scope '{}'; use read, ingest, admin or visitor", name);
    wanted.scopes.push_back(*scope);
  }
  FOOTNOTE_TRY(const auto expires_at, reader.optional_string("expires_at", kNameBytesMax));
  if (expires_at) {
    const auto time = parse_rfc3339(*expires_at);
    if (!time) return fail_field(ErrorCode::kInvalidArgument, "expires_at", "'expires_at' is a time like 2027-01-31T12:00:00Z");
    wanted.expires_at = *time;
  }
  FOOTNOTE_TRY(const auto per_minute, reader.optional_integer("requests_per_minute", 0, access::kRequestsPerMinuteMax));
  FOOTNOTE_TRY(const auto per_day, reader.optional_integer("requests_per_day", 0, access::kRequestsPerDayMax));
  wanted.limits = {per_minute.value_or(0), per_day.value_or(0)};
  FOOTNOTE_TRY(const auto labels, reader.optional_strings("labels", access::kKeyLabelsMax, kNameBytesMax));
  wanted.labels = labels.value_or(std::vector<std::string>{});
  return wanted;
}

Result<http::Response> list_keys(const AdminServices& services, const Caller& caller, const http::Request& request,
                                 const CallContext& call) {
  FOOTNOTE_TRY(const Workspace workspace, find_meant(services, caller, call, asked_workspace(request)));
  JsonArray out;
  for (const ApiKey& key : services.keys.list(workspace.id)) out.push_back(render_key(key, workspace.name, services.keys.clock().now()));
  return http::Response::json(200, JsonObject{{"keys", std::move(out)}});
}

Result<http::Response> create_key(const AdminServices& services, const Caller& caller, const http::Request& request,
                                  const CallContext& call) {
  FOOTNOTE_TRY(const Json body, parse_request_json(request.body));
  FOOTNOTE_TRY(const JsonReader reader, JsonReader::of(body));
  FOOTNOTE_TRY(access::NewKey wanted, parse_new_key(reader));
  FOOTNOTE_TRY(const auto name, reader.optional_string("workspace", kNameBytesMax));
  FOOTNOTE_TRY(const Workspace workspace, find_meant(services, caller, call, name));
  wanted.workspace = workspace.id;
  wanted.maker = maker_of(caller);
  FOOTNOTE_TRY(const auto issued, services.keys.create(call, wanted));
  return render_issued(issued, workspace, services.keys.clock().now());
}

Result<http::Response> rotate_key(const AdminServices& services, const Caller& caller, const http::Request& request,
                                  const CallContext& call) {
  FOOTNOTE_TRY(const ApiKeyId id, parse_key_id(request));
  FOOTNOTE_TRY(const Json body, parse_request_json(request.body.empty() ? "{}" : request.body));
  FOOTNOTE_TRY(const JsonReader reader, JsonReader::of(body));
  FOOTNOTE_CHECK(reader.only({"grace_seconds"}));
  const auto longest = std::chrono::seconds(access::kRotationGraceMax).count();
  FOOTNOTE_TRY(const auto grace, reader.optional_integer("grace_seconds", 0, longest));
  FOOTNOTE_TRY(const Workspace workspace, find_meant(services, caller, call, asked_workspace(request)));
  const std::chrono::seconds wait{grace.value_or(std::chrono::seconds(access::kRotationGraceDefault).count())};
  FOOTNOTE_TRY(const auto issued, services.keys.rotate(call, workspace.id, id, wait, maker_of(caller)));
  return render_issued(issued, workspace, services.keys.clock().now());
}

Result<http::Response> revoke_key(const AdminServices& services, const Caller& caller, const http::Request& request,
                                  const CallContext& call) {
  FOOTNOTE_TRY(const ApiKeyId id, parse_key_id(request));
  FOOTNOTE_TRY(const Workspace workspace, find_meant(services, caller, call, asked_workspace(request)));
  FOOTNOTE_TRY(const ApiKey key, services.keys.revoke(call, workspace.id, id));
  return http::Response::json(200, render_key(key, workspace.name, services.keys.clock().now()));
}

Result<http::Response> list_workspaces(const AdminServices& services, const Caller& caller, const http::Request&, const CallContext& call) {
  FOOTNOTE_TRY(const auto all, services.catalog.workspaces(call));
  JsonArray out;
  for (const Workspace& workspace : all) {
    if (caller.is_operator || workspace.id == caller.workspace) out.push_back(render_workspace(workspace));
  }
  return http::Response::json(200, JsonObject{{"workspaces", std::move(out)}});
}

Result<http::Response> create_workspace(const AdminServices& services, const Caller& caller, const http::Request& request,
                                        const CallContext& call) {
  if (!caller.is_operator) {
    return fail(ErrorCode::kPermissionDenied, "only an admin of the workspace '{}' may create workspaces", kDefaultWorkspace);
  }
  FOOTNOTE_TRY(const Json body, parse_request_json(request.body));
  FOOTNOTE_TRY(const JsonReader reader, JsonReader::of(body));
  FOOTNOTE_CHECK(reader.only({"name"}));
  FOOTNOTE_TRY(const std::string name, reader.required_string("name", kNameBytesMax));
  FOOTNOTE_TRY(const Workspace made, services.catalog.add_workspace(call, name));
  return http::Response::json(201, render_workspace(made));
}

}  // namespace

JsonObject render_key(const ApiKey& key, std::string_view workspace, UtcTime now) {
  JsonArray scopes;
  for (const KeyScope scope : key.scopes) scopes.emplace_back(to_string(scope));
  return {{"id", key.id.value},
          {"workspace", workspace},
          {"name", key.name},
          {"prefix", key.display_prefix},
          {"scopes", std::move(scopes)},
          {"labels", JsonArray(key.labels.begin(), key.labels.end())},
          {"active", !key.has_ended(now)},
          {"created_at", to_rfc3339(key.created_at)},
          {"expires_at", time_json(key.expires_at)},
          {"revoked_at", time_json(key.revoked_at)},
          {"last_used_at", time_json(key.usage.last_used_at)},
          {"requests_today", access::requests_today(key.usage, now)},
          {"requests_per_minute", key.limits.requests_per_minute},
          {"requests_per_day", key.limits.requests_per_day}};
}

JsonObject render_workspace(const Workspace& workspace) {
  return {{"id", workspace.id.value}, {"name", workspace.name}, {"created_at", to_rfc3339(workspace.created_at)}};
}

std::vector<Route> make_admin_routes(const AdminServices& services) {
  using http::Method;
  const Access admin = Access::with(KeyScope::kAdmin);
  return {
      {.access = admin,
       .method = Method::kGet,
       .pattern = "/api/admin/keys",
       .handler = bind(services, list_keys),
       .summary = "The workspace's keys"},
      {.access = admin,
       .method = Method::kPost,
       .pattern = "/api/admin/keys",
       .handler = bind(services, create_key),
       .summary = "Create a key; it is shown only once"},
      {.access = admin,
       .method = Method::kPost,
       .pattern = "/api/admin/keys/{id}/rotate",
       .handler = bind(services, rotate_key),
       .summary = "Replace a key's secret; the old one works until its grace period ends"},
      {.access = admin,
       .method = Method::kDelete,
       .pattern = "/api/admin/keys/{id}",
       .handler = bind(services, revoke_key),
       .summary = "Revoke a key at once"},
      {.access = admin,
       .method = Method::kGet,
       .pattern = "/api/admin/workspaces",
       .handler = bind(services, list_workspaces),
       .summary = "Workspaces that the caller may manage"},
      {.access = admin,
       .method = Method::kPost,
       .pattern = "/api/admin/workspaces",
       .handler = bind(services, create_workspace),
       .summary = "Create a workspace (operators only)"},
  };
}

}  // namespace footnote::api
