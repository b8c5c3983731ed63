#include "api/mcp_tools.h"

#include <algorithm>

#include <fmt/format.h>

#include "api/project_wire.h"
#include "base/text.h"
#include "base/utf8.h"

namespace footnote::api {
namespace {

using access::Caller;
using code::GraphNode;

constexpr std::size_t kToolNameBytesMax = 1'000;
constexpr std::int64_t kToolTopKMax = 50;

/// The project that a tool names, or the only one.
Result<Project> project_of(const McpServices& services, const Caller& caller, const JsonReader& arguments, const CallContext& call) {
  FOOTNOTE_TRY(const auto slug, arguments.optional_string("project", kProjectSlugBytesMax));
  if (slug) return services.projects.projects.project(call, caller.workspace, *slug);
  FOOTNOTE_TRY(const auto projects, services.projects.projects.projects(call, caller.workspace));
  if (projects.size() == 1) return projects.front();
  std::vector<std::string> names;
  for (const Project& project : projects) names.push_back(project.slug);
  if (names.empty()) return fail(ErrorCode::kFailedPrecondition, "there is no project yet: POST /api/projects adds one");
  return fail_field(ErrorCode::kInvalidArgument, "project", "name a project: {}", join(names, ", "));
}

std::string place_of(std::string_view path, int first, int last) { return fmt::format("{}:{}-{}", path, first, last); }

JsonObject chunk_data(const project::FoundChunk& chunk) {
  return {{"id", chunk.id},
          {"path", chunk.path},
          {"first_line", chunk.first_line},
          {"last_line", chunk.last_line},
          {"source_type", chunk.source_type},
          {"symbol", chunk.symbol},
          {"score", chunk.score},
          {"content_hash", chunk.content_hash}};
}

/// Chunks from the cursor on, as many as fit.
ToolResult render_chunks(const project::RetrieveResult& found, std::size_t from) {
  ToolResult out;
  JsonArray chunks;
  std::size_t at = from;
  for (; at < found.chunks.size(); ++at) {
    const project::FoundChunk& chunk = found.chunks[at];
    std::string part = fmt::format("{} {} [{}]\n{}\n\n", place_of(chunk.path, chunk.first_line, chunk.last_line), chunk.symbol,
                                   chunk.source_type, chunk.text);
    if (out.text.size() + part.size() > kToolTextBytesMax && at > from) break;
    out.text += utf8_prefix(part, kToolTextBytesMax);
    chunks.push_back(chunk_data(chunk));
  }
  if (found.chunks.empty()) {
    out.text = found.nearest.empty() ? "Nothing found." : "Nothing found. Near: " + join(found.nearest, ", ");
  }
  out.data = {{"strategy", found.strategy}, {"chunks", std::move(chunks)}};
  if (at < found.chunks.size()) out.data["next_cursor"] = std::to_string(at);
  return out;
}

Result<std::size_t> cursor_of(const JsonReader& arguments) {
  FOOTNOTE_TRY(const auto text, arguments.optional_string("cursor", 20));
  if (!text) return 0;
  const auto number = parse_whole_number<std::size_t>(*text);
  if (!number) return fail_field(ErrorCode::kInvalidArgument, "cursor", "'cursor' is the next_cursor of an earlier result");
  return *number;
}

Result<ToolResult> search_chunks(const McpServices& services, const Caller& caller, const Json& arguments, const CallContext& call,
                                 std::vector<code::SourceType> types) {
  FOOTNOTE_TRY(const JsonReader reader, JsonReader::of(arguments));
  FOOTNOTE_CHECK(reader.only({"query", "project", "top_k", "source_types", "path_prefix", "min_score", "cursor"}));
  FOOTNOTE_TRY(const Project project, project_of(services, caller, reader, call));
  FOOTNOTE_TRY(const std::string query, reader.required_string("query", retrieve::kQuestionBytesMax));
  FOOTNOTE_TRY(const auto top_k, reader.optional_integer("top_k", 1, kToolTopKMax));
  FOOTNOTE_TRY(const auto names, reader.optional_strings("source_types", code::kSourceTypes, kToolNameBytesMax));
  FOOTNOTE_TRY(const auto prefix, reader.optional_string("path_prefix", kToolNameBytesMax));
  FOOTNOTE_TRY(const auto score, reader.optional_number("min_score", 0, 1));
  FOOTNOTE_TRY(const std::size_t from, cursor_of(reader));
  project::RetrieveOptions options{.source_types = std::move(types), .context_tokens = project::kContextTokensMax};
  if (names) {
    options.source_types.clear();
    for (const std::string& name : *names) {
      const auto type = code::parse_source_type(name);
      if (!type) return fail_field(ErrorCode::kInvalidArgument, "source_types", "there is no source type '{}'", name);
      options.source_types.push_back(*type);
    }
  }
  if (prefix) options.top_k = project::kTopKMax;
  if (top_k && !prefix) options.top_k = static_cast<std::size_t>(*top_k);
  if (score) options.min_score = *score;
  FOOTNOTE_TRY(project::RetrieveResult found, services.projects.memory.retrieve(call, project, query, options));
  if (prefix) {
    std::erase_if(found.chunks, [&](const project::FoundChunk& chunk) { return !chunk.path.starts_with(*prefix); });
    found.chunks.resize(std::min(found.chunks.size(), static_cast<std::size_t>(top_k.value_or(project::kTopKDefault))));
  }
  return render_chunks(found, from);
}

Result<ToolResult> search_code(const McpServices& services, const Caller& caller, const Json& arguments, const CallContext& call) {
  std::vector<code::SourceType> types;
  for (int i = 0; i < code::kSourceTypes; ++i) {
    if (!code::is_prose(static_cast<code::SourceType>(i))) types.push_back(static_cast<code::SourceType>(i));
  }
  return search_chunks(services, caller, arguments, call, std::move(types));
}

Result<ToolResult> search_docs(const McpServices& services, const Caller& caller, const Json& arguments, const CallContext& call) {
  std::vector<code::SourceType> types;
  for (int i = 0; i < code::kSourceTypes; ++i) {
    if (code::is_prose(static_cast<code::SourceType>(i))) types.push_back(static_cast<code::SourceType>(i));
  }
  return search_chunks(services, caller, arguments, call, std::move(types));
}

JsonObject node_data(const GraphNode& node) {
  return {{"source_type", to_string(node.type)},
          {"symbol", node.symbol},
          {"path", node.path},
          {"first_line", node.first_line},
          {"last_line", node.last_line}};
}

std::string node_line(const GraphNode& node) {
  return fmt::format("{} {} [{}]\n", place_of(node.path, node.first_line, node.last_line), node.symbol, to_string(node.type));
}

/// Asks the graph about the named argument.
template <class Ask>
Result<ToolResult> ask_graph(const McpServices& services, const Caller& caller, const Json& arguments, const CallContext& call,
                             std::string_view argument, Ask&& ask) {
  FOOTNOTE_TRY(const JsonReader reader, JsonReader::of(arguments));
  FOOTNOTE_CHECK(reader.only({"project", argument, "hops"}));
  FOOTNOTE_TRY(const Project project, project_of(services, caller, reader, call));
  FOOTNOTE_TRY(const std::string name, reader.required_string(argument, kToolNameBytesMax));
  FOOTNOTE_TRY(const auto hops, reader.optional_integer("hops", 1, code::kHopsMax));
  ToolResult out;
  bool found = false;
  std::vector<std::string> near;
  FOOTNOTE_CHECK(services.projects.memory.with_graph(call, project, [&](const code::Graph& graph) {
    const auto nodes = graph.find(name);
    found = !nodes.empty();
    if (found) ask(graph, nodes, static_cast<int>(hops.value_or(1)), out);
    if (!found) near = graph.nearest(name, 5);
  }));
  if (!found) return fail(ErrorCode::kNotFound, "nothing is named '{}'{}", name, near.empty() ? "" : "; near: " + join(near, ", "));
  out.text = std::string(utf8_prefix(out.text, kToolTextBytesMax));
  return out;
}

void add_edges(const std::vector<code::GraphEdge>& edges, ToolResult& out) {
  JsonArray list;
  for (const code::GraphEdge& edge : edges) {
    list.push_back(JsonObject{{"from", node_data(*edge.from)}, {"type", edge.type}, {"to", node_data(*edge.to)}});
    out.text += fmt::format("{} -{}-> {}  {}", edge.from->symbol, edge.type, edge.to->symbol, node_line(*edge.to));
  }
  if (edges.empty()) out.text += "No edges.\n";
  out.data["edges"] = std::move(list);
}

Result<ToolResult> get_symbol(const McpServices& services, const Caller& caller, const Json& arguments, const CallContext& call) {
  FOOTNOTE_TRY(ToolResult out, ask_graph(services, caller, arguments, call, "name",
                                         [&](const code::Graph&, const std::vector<const GraphNode*>& nodes, int, ToolResult& result) {
                                           JsonArray list;
                                           for (const GraphNode* node : nodes) {
                                             JsonObject data = node_data(*node);
                                             for (const auto& [fact, values] : node->facts) data[fact] = join(values, ", ");
                                             list.push_back(std::move(data));
                                             result.text += node_line(*node);
                                             for (const auto& [fact, values] : node->facts)
                                               result.text += "  " + fact + ": " + join(values, ", ") + "\n";
                                           }
                                           result.data["symbols"] = std::move(list);
                                         }));
  return out;
}

Result<ToolResult> find_references(const McpServices& services, const Caller& caller, const Json& arguments, const CallContext& call) {
  return ask_graph(services, caller, arguments, call, "symbol",
                   [](const code::Graph& graph, const std::vector<const GraphNode*>& nodes, int, ToolResult& result) {
                     std::vector<code::GraphEdge> edges;
                     for (const GraphNode* node : nodes) {
                       for (const code::GraphEdge& edge : graph.edges_to(*node)) {
                         if (edge.type != "contains") edges.push_back(edge);
                       }
                     }
                     JsonArray list;
                     for (const code::GraphEdge& edge : edges) {
                       JsonObject data = node_data(*edge.from);
                       data["type"] = edge.type;
                       list.push_back(std::move(data));
                       result.text += fmt::format("{} {}", edge.type, node_line(*edge.from));
                     }
                     if (edges.empty()) result.text = "No references.\n";
                     result.data["references"] = std::move(list);
                   });
}

Result<ToolResult> related(const McpServices& services, const Caller& caller, const Json& arguments, const CallContext& call) {
  return ask_graph(services, caller, arguments, call, "symbol",
                   [](const code::Graph& graph, const std::vector<const GraphNode*>& nodes, int hops, ToolResult& result) {
                     add_edges(graph.around(nodes, hops), result);
                   });
}

Result<ToolResult> file_outline(const McpServices& services, const Caller& caller, const Json& arguments, const CallContext& call) {
  FOOTNOTE_TRY(const JsonReader reader, JsonReader::of(arguments));
  FOOTNOTE_CHECK(reader.only({"project", "path"}));
  FOOTNOTE_TRY(const Project project, project_of(services, caller, reader, call));
  FOOTNOTE_TRY(const std::string path, reader.required_string("path", kToolNameBytesMax));
  ToolResult out;
  bool found = false;
  FOOTNOTE_CHECK(services.projects.memory.with_graph(call, project, [&](const code::Graph& graph) {
    found = graph.has_file(path);
    JsonArray list;
    for (const GraphNode& node : graph.nodes_of_file(path)) {
      list.push_back(node_data(node));
      out.text += node_line(node);
    }
    out.data["units"] = std::move(list);
  }));
  if (!found) return fail(ErrorCode::kNotFound, "'{}' is not indexed", path);
  out.text = std::string(utf8_prefix(out.text, kToolTextBytesMax));
  return out;
}

Result<ToolResult> index_status(const McpServices& services, const Caller& caller, const Json& arguments, const CallContext& call) {
  FOOTNOTE_TRY(const JsonReader reader, JsonReader::of(arguments));
  FOOTNOTE_CHECK(reader.only({"project"}));
  FOOTNOTE_TRY(const Project project, project_of(services, caller, reader, call));
  ToolResult out;
  out.data = render_project(project, services.projects.runner.last(project.id), ShowRoot::kNo);
  out.text = to_text(out.data);
  return out;
}

Result<ToolResult> reindex(const McpServices& services, const Caller& caller, const Json& arguments, const CallContext& call) {
  FOOTNOTE_TRY(const JsonReader reader, JsonReader::of(arguments));
  FOOTNOTE_CHECK(reader.only({"project"}));
  FOOTNOTE_TRY(const Project project, project_of(services, caller, reader, call));
  FOOTNOTE_TRY(const project::IndexJob job, services.projects.runner.start(project));
  ToolResult out;
  out.data = render_job(job);
  out.text = to_text(out.data);
  return out;
}

Result<ToolResult> memory_write(const McpServices& services, const Caller& caller, const Json& arguments, const CallContext& call) {
  FOOTNOTE_TRY(const JsonReader reader, JsonReader::of(arguments));
  FOOTNOTE_CHECK(reader.only({"agent_id", "id", "text"}));
  points::NewMemory memory;
  FOOTNOTE_TRY(memory.agent, reader.required_string("agent_id", points::kMemoryNameBytesMax));
  FOOTNOTE_TRY(memory.text, reader.required_string("text", points::kMemoryTextBytesMax));
  FOOTNOTE_TRY(const auto id, reader.optional_string("id", points::kMemoryNameBytesMax));
  memory.id = id.value_or("");
  FOOTNOTE_TRY(const auto written, services.memories.write(call, caller.workspace, memory));
  return ToolResult{"stored as " + written.memory.id, {{"id", written.memory.id}}};
}

Result<ToolResult> memory_search(const McpServices& services, const Caller& caller, const Json& arguments, const CallContext& call) {
  FOOTNOTE_TRY(const JsonReader reader, JsonReader::of(arguments));
  FOOTNOTE_CHECK(reader.only({"agent_id", "query", "limit"}));
  points::MemoryQuery query;
  FOOTNOTE_TRY(query.agent, reader.required_string("agent_id", points::kMemoryNameBytesMax));
  FOOTNOTE_TRY(query.text, reader.required_string("query", points::kMemoryTextBytesMax));
  FOOTNOTE_TRY(const auto limit, reader.optional_integer("limit", 1, points::kMemoriesFoundMax));
  if (limit) query.limit = static_cast<std::size_t>(*limit);
  FOOTNOTE_TRY(const auto found, services.memories.search(call, caller.workspace, query));
  ToolResult out;
  JsonArray list;
  for (const points::FoundMemory& hit : found) {
    list.push_back(JsonObject{{"id", hit.memory.id}, {"text", hit.memory.text}, {"score", hit.score}});
    out.text += hit.memory.id + ": " + hit.memory.text + "\n";
  }
  if (found.empty()) out.text = "No notes.\n";
  out.text = std::string(utf8_prefix(out.text, kToolTextBytesMax));
  out.data["memories"] = std::move(list);
  return out;
}

Result<ToolResult> memory_forget(const McpServices& services, const Caller& caller, const Json& arguments, const CallContext& call) {
  FOOTNOTE_TRY(const JsonReader reader, JsonReader::of(arguments));
  FOOTNOTE_CHECK(reader.only({"agent_id", "id"}));
  FOOTNOTE_TRY(const std::string agent, reader.required_string("agent_id", points::kMemoryNameBytesMax));
  FOOTNOTE_TRY(const std::string id, reader.required_string("id", points::kMemoryNameBytesMax));
  FOOTNOTE_CHECK(services.memories.forget(call, caller.workspace, agent, id));
  return ToolResult{"forgotten", {{"id", id}}};
}

#define FOOTNOTE_PROJECT_ARGUMENT R"("project":{"type":"string","description":"Slug; may be left out if there is one project"})"

constexpr std::string_view kSearchSchema =
    R"({"type":"object","required":["query"],"properties":{"query":{"type":"string"},)" FOOTNOTE_PROJECT_ARGUMENT
    R"(,"top_k":{"type":"integer","minimum":1,"maximum":50,"default":12},"source_types":{"type":"array","items":{"type":"string"}},"path_prefix":{"type":"string"},)"
    R"("min_score":{"type":"number","minimum":0,"maximum":1,"default":0.25},"cursor":{"type":"string"}}})";
constexpr std::string_view kSymbolSchema =
    R"({"type":"object","required":["symbol"],"properties":{"symbol":{"type":"string"},)" FOOTNOTE_PROJECT_ARGUMENT
    R"(,"hops":{"type":"integer","minimum":1,"maximum":4,"default":1}}})";
constexpr std::string_view kNameSchema =
    R"({"type":"object","required":["name"],"properties":{"name":{"type":"string"},)" FOOTNOTE_PROJECT_ARGUMENT R"(}})";
constexpr std::string_view kPathSchema =
    R"({"type":"object","required":["path"],"properties":{"path":{"type":"string"},)" FOOTNOTE_PROJECT_ARGUMENT R"(}})";
constexpr std::string_view kProjectSchema = R"({"type":"object","properties":{)" FOOTNOTE_PROJECT_ARGUMENT R"(}})";

constexpr McpTool kTools[] = {
    {"search_code", "Find code by meaning or name: routes, methods, models, tables, definitions, with path and lines.", kSearchSchema,
     KeyScope::kRead, false, search_code},
    {"search_docs", "Find sections of README, docs, decisions, known bugs and rules.", kSearchSchema, KeyScope::kRead, false, search_docs},
    {"get_symbol", "What a class, method, route, table or definition is, and where.", kNameSchema, KeyScope::kRead, false, get_symbol},
    {"find_references", "Who uses, serves, tests or mentions a symbol.", kSymbolSchema, KeyScope::kRead, false, find_references},
    {"related", "The graph around a symbol: route, controller method, model, table, migration.", kSymbolSchema, KeyScope::kRead, false,
     related},
    {"file_outline", "The units of a file with their lines.", kPathSchema, KeyScope::kRead, false, file_outline},
    {"index_status", "The state of a project's index.", kProjectSchema, KeyScope::kRead, false, index_status},
    {"reindex", "Index what changed in a project.", kProjectSchema, KeyScope::kIngest, true, reindex},
    {"memory_write", "Store a note of an agent.",
     R"({"type":"object","required":["agent_id","text"],"properties":{"agent_id":{"type":"string"},"id":{"type":"string"},"text":{"type":"string"}}})",
     KeyScope::kIngest, true, memory_write},
    {"memory_search", "Find an agent's notes by meaning.",
     R"({"type":"object","required":["agent_id","query"],"properties":{"agent_id":{"type":"string"},"query":{"type":"string"},"limit":{"type":"integer","minimum":1,"maximum":100}}})",
     KeyScope::kRead, false, memory_search},
    {"memory_forget", "Delete an agent's note.",
     R"({"type":"object","required":["agent_id","id"],"properties":{"agent_id":{"type":"string"},"id":{"type":"string"}}})",
     KeyScope::kIngest, true, memory_forget},
};

#undef FOOTNOTE_PROJECT_ARGUMENT

}  // namespace

std::span<const McpTool> mcp_tools() { return kTools; }

Result<std::string> read_repo_resource(const McpServices& services, const Caller& caller, std::string_view uri, const CallContext& call) {
  constexpr std::string_view kScheme = "repo://";
  const std::size_t slash = uri.find('/', kScheme.size());
  if (!uri.starts_with(kScheme) || slash == std::string_view::npos) {
    return fail(ErrorCode::kInvalidArgument, "a resource is repo://PROJECT/PATH, with #L3-L9 for lines");
  }
  FOOTNOTE_TRY(const Project project,
               services.projects.projects.project(call, caller.workspace, uri.substr(kScheme.size(), slash - kScheme.size())));
  const std::size_t hash = uri.find('#', slash);
  const std::string_view path = uri.substr(slash + 1, (hash == std::string_view::npos ? uri.size() : hash) - slash - 1);
  FOOTNOTE_TRY(const std::string text, services.projects.memory.text(call, project, path));
  if (hash == std::string_view::npos) return text;
  const auto ends = split(uri.substr(hash + 1), '-');
  const auto line_of = [](std::string_view part) { return parse_whole_number<std::size_t>(part.starts_with('L') ? part.substr(1) : part); };
  const auto first = line_of(ends.front());
  const auto last = line_of(ends.back());
  if (!first || !last || *first == 0 || *last < *first) return fail(ErrorCode::kInvalidArgument, "lines are named like #L3-L9");
  std::string out;
  const auto lines = split(text, '\n');
  for (std::size_t i = *first - 1; i < std::min(*last, lines.size()); ++i) out += std::string(lines[i]) + "\n";
  return out;
}

}  // namespace footnote::api
