#include "api/mcp_server.h"

#include <algorithm>
#include <array>

#include "api/mcp_tools.h"

namespace footnote::api {
namespace {

constexpr std::string_view kVersionKey = "io.modelcontextprotocol/protocolVersion";
constexpr std::string_view kCapabilitiesKey = "io.modelcontextprotocol/clientCapabilities";
constexpr std::string_view kServerInfoKey = "io.modelcontextprotocol/serverInfo";
constexpr std::array<std::string_view, 4> kLegacyVersions = {"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"};
constexpr std::string_view kInstructions =
    "Ask before you plan or edit: search_code and search_docs find chunks with path and lines; related follows the graph of routes, "
    "controllers, models and tables; get_symbol, find_references and file_outline answer by name.";
constexpr std::int64_t kListTtlMs = 60'000;
constexpr std::size_t kMcpBodyBytesMax = 1 << 20;

constexpr int kInvalidRequest = -32600;
constexpr int kUnknownMethod = -32601;
constexpr int kInvalidParams = -32602;
constexpr int kHeaderMismatch = -32020;
constexpr int kUnsupportedVersion = -32022;

/// One request while it is answered.
struct Message {
  Json id;
  std::string method;
  JsonObject params;
  bool modern = false;
};

McpReply failed(const Json& id, int status, int code, std::string_view text, std::optional<JsonObject> data = {}) {
  JsonObject error{{"code", code}, {"message", text}};
  if (data) error["data"] = *std::move(data);
  return {status, JsonObject{{"jsonrpc", "2.0"}, {"id", id}, {"error", std::move(error)}}};
}

McpReply done(const Message& message, JsonObject result, bool is_list = false) {
  if (message.modern) {
    result["resultType"] = "complete";
    if (is_list) {
      result["ttlMs"] = kListTtlMs;
      result["cacheScope"] = "private";
    }
  }
  return {200, JsonObject{{"jsonrpc", "2.0"}, {"id", message.id}, {"result", std::move(result)}}};
}

std::string text_of(const JsonObject& object, std::string_view key) {
  const Json* value = object.if_contains(key);
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
}

JsonObject object_of(const JsonObject& object, std::string_view key) {
  const Json* value = object.if_contains(key);
  return value != nullptr && value->is_object() ? value->get_object() : JsonObject{};
}

JsonObject capabilities() { return {{"tools", JsonObject{}}, {"resources", JsonObject{}}}; }

JsonObject server_info(const McpServices& services) { return {{"name", "footnote"}, {"title", "Footnote"}, {"version", services.version}}; }

McpReply initialize(const McpServices& services, const Message& message) {
  const std::string asked = text_of(message.params, "protocolVersion");
  const bool known = std::ranges::find(kLegacyVersions, asked) != kLegacyVersions.end();
  return done(message, {{"protocolVersion", known ? std::string_view(asked) : kMcpLegacyVersion},
                        {"capabilities", capabilities()},
                        {"serverInfo", server_info(services)},
                        {"instructions", kInstructions}});
}

McpReply discover(const McpServices& services, const Message& message) {
  JsonObject result{{"supportedVersions", JsonArray{kMcpModernVersion}}, {"capabilities", capabilities()}, {"instructions", kInstructions}};
  JsonObject meta;
  meta[kServerInfoKey] = server_info(services);
  result["_meta"] = std::move(meta);
  return done(message, std::move(result), true);
}

McpReply list_tools(const Message& message) {
  JsonArray tools;
  for (const McpTool& tool : mcp_tools()) {
    const auto schema = parse_json(tool.input_schema);
    tools.push_back(JsonObject{{"name", tool.name},
                               {"description", tool.description},
                               {"inputSchema", schema ? *schema : Json(JsonObject{{"type", "object"}})},
                               {"annotations", JsonObject{{"readOnlyHint", !tool.writes}, {"openWorldHint", false}}}});
  }
  return done(message, {{"tools", std::move(tools)}}, true);
}

McpReply tool_error(const Message& message, std::string_view text) {
  return done(message, {{"content", JsonArray{JsonObject{{"type", "text"}, {"text", text}}}}, {"isError", true}});
}

McpReply call_tool(const McpServices& services, const access::Caller& caller, const Message& message, const CallContext& call) {
  const std::string name = text_of(message.params, "name");
  const auto tools = mcp_tools();
  const auto tool = std::ranges::find(tools, name, &McpTool::name);
  if (tool == tools.end()) return failed(message.id, 200, kInvalidParams, "there is no tool '" + name + "'");
  if (!caller.may(tool->scope)) return tool_error(message, "this key may not use the tool: it needs the scope 'ingest'");
  const auto result = tool->run(services, caller, object_of(message.params, "arguments"), call);
  if (!result) {
    const Error& error = result.error();
    return tool_error(message, error.public_message.empty() ? error.message : error.public_message);
  }
  return done(message, {{"content", JsonArray{JsonObject{{"type", "text"}, {"text", result->text}}}}, {"structuredContent", result->data}});
}

McpReply list_resources(const McpServices& services, const access::Caller& caller, const Message& message, const CallContext& call) {
  const auto projects = services.projects.projects.projects(call, caller.workspace);
  if (!projects) return failed(message.id, 200, -32603, projects.error().message);
  JsonArray out;
  for (const Project& project : *projects) {
    out.push_back(JsonObject{{"uri", "repo://" + project.slug + "/README.md"}, {"name", project.slug}, {"mimeType", "text/plain"}});
  }
  return done(message, {{"resources", std::move(out)}}, true);
}

McpReply list_templates(const Message& message) {
  JsonArray templates{JsonObject{{"uriTemplate", "repo://{project}/{+path}"},
                                 {"name", "file"},
                                 {"description", "An indexed file of a project; #L3-L9 selects lines"},
                                 {"mimeType", "text/plain"}}};
  return done(message, {{"resourceTemplates", std::move(templates)}}, true);
}

McpReply read_resource(const McpServices& services, const access::Caller& caller, const Message& message, const CallContext& call) {
  const std::string uri = text_of(message.params, "uri");
  const auto text = read_repo_resource(services, caller, uri, call);
  if (!text) return failed(message.id, 200, kInvalidParams, text.error().message, JsonObject{{"uri", uri}});
  return done(message, {{"contents", JsonArray{JsonObject{{"uri", uri}, {"mimeType", "text/plain"}, {"text", *text}}}}}, true);
}

/// The name that a modern request repeats in a header.
std::string header_name_of(const Message& message) {
  if (message.method == "tools/call" || message.method == "prompts/get") return text_of(message.params, "name");
  return message.method == "resources/read" ? text_of(message.params, "uri") : std::string();
}

/// What is wrong with the envelope of a modern request; nullopt if nothing.
std::optional<McpReply> check_modern(const Message& message, const JsonObject& meta, const http::Headers* headers) {
  const std::string version = text_of(meta, kVersionKey);
  if (version != kMcpModernVersion) {
    return failed(message.id, 400, kUnsupportedVersion, "unsupported protocol version",
                  JsonObject{{"supported", JsonArray{kMcpModernVersion}}, {"requested", version}});
  }
  if (!meta.contains(kCapabilitiesKey)) return failed(message.id, 400, kInvalidParams, "params._meta has no client capabilities");
  if (headers == nullptr) return std::nullopt;
  const auto differs = [&](std::string_view name, std::string_view wanted) { return headers->find(name).value_or("") != wanted; };
  if (differs("mcp-protocol-version", version) || differs("mcp-method", message.method)) {
    return failed(message.id, 400, kHeaderMismatch, "the headers MCP-Protocol-Version and Mcp-Method must equal the body's");
  }
  const std::string name = header_name_of(message);
  if (!name.empty() && differs("mcp-name", name))
    return failed(message.id, 400, kHeaderMismatch, "the header Mcp-Name must equal the body's");
  return std::nullopt;
}

Result<http::Response> post_message(const McpServices& services, const access::Caller& caller, const http::Request& request,
                                    const CallContext& call) {
  const auto body = parse_request_json(request.body);
  if (!body) return http::Response::json(400, *failed(nullptr, 400, -32700, body.error().message).body);
  // A bridge from another transport: no headers to compare, and errors are in the body alone.
  const bool bridged = request.query_value("transport") == "stdio";
  const McpReply reply = answer_mcp(services, caller, *body, bridged ? nullptr : &request.headers, call);
  if (!reply.body) return http::Response{.status = 202};
  return http::Response::json(bridged ? 200 : reply.status, *reply.body);
}

}  // namespace

McpReply answer_mcp(const McpServices& services, const access::Caller& caller, const Json& message, const http::Headers* headers,
                    const CallContext& call) {
  const JsonObject* object = message.if_object();
  if (object == nullptr || text_of(*object, "jsonrpc") != "2.0" || text_of(*object, "method").empty()) {
    return failed(nullptr, 400, kInvalidRequest, "not a JSON-RPC 2.0 request; batches are not supported");
  }
  const Json* id = object->if_contains("id");
  if (id == nullptr) return {202, std::nullopt};
  if (!id->is_string() && !id->is_number()) return failed(nullptr, 400, kInvalidRequest, "'id' is a string or a number");
  Message read{.id = *id, .method = text_of(*object, "method"), .params = object_of(*object, "params")};
  const JsonObject meta = object_of(read.params, "_meta");
  read.modern = meta.contains(kVersionKey);
  if (read.modern) {
    if (auto wrong = check_modern(read, meta, headers)) return *std::move(wrong);
    if (read.method == "server/discover") return discover(services, read);
  } else {
    if (read.method == "initialize") return initialize(services, read);
    if (read.method == "ping") return done(read, {});
  }
  if (read.method == "tools/list") return list_tools(read);
  if (read.method == "tools/call") return call_tool(services, caller, read, call);
  if (read.method == "resources/list") return list_resources(services, caller, read, call);
  if (read.method == "resources/templates/list") return list_templates(read);
  if (read.method == "resources/read") return read_resource(services, caller, read, call);
  return failed(read.id, read.modern ? 404 : 200, kUnknownMethod, "there is no method '" + read.method + "'");
}

std::vector<Route> make_mcp_routes(const McpServices& services) {
  return {{.access = Access::with(KeyScope::kRead),
           .method = http::Method::kPost,
           .pattern = "/mcp",
           .handler = bind(services, post_message),
           .body_bytes_max = kMcpBodyBytesMax,
           .summary = "Model Context Protocol: tools for coding agents"}};
}

}  // namespace footnote::api
