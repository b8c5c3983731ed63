#include "api/project_wire.h"

#include <algorithm>

#include "base/text.h"

namespace footnote::api {
namespace {

constexpr std::size_t kNamesMax = 100;
constexpr std::size_t kNameBytesMax = 1'000;

Json optional_text(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }
Json optional_time(const std::optional<UtcTime>& time) { return time ? Json(to_rfc3339(*time)) : Json(nullptr); }

JsonArray texts_json(const std::vector<std::string>& texts) { return JsonArray(texts.begin(), texts.end()); }

JsonObject facts_json(const code::Facts& facts) {
  JsonObject out;
  for (const auto& [name, values] : facts) out[name] = values.size() == 1 ? Json(values.front()) : Json(texts_json(values));
  return out;
}

/// A question for a person, when nothing was found.
std::string clarifying_question(const project::RetrieveResult& found) {
  std::string out = "Nothing in the project answers this";
  if (!found.looked_for.empty()) out += "; looked for " + join(found.looked_for, ", ");
  out += found.nearest.empty() ? ". Which file, class or route do you mean?" : ". Do you mean " + join(found.nearest, ", ") + "?";
  return out;
}

JsonObject render_chunk(const project::FoundChunk& chunk) {
  JsonObject metadata = facts_json(chunk.facts);
  if (!chunk.also_at.empty()) metadata["also_at"] = texts_json(chunk.also_at);
  return {{"id", chunk.id},           {"source_type", chunk.source_type},   {"symbol", chunk.symbol},
          {"path", chunk.path},       {"first_line", chunk.first_line},     {"last_line", chunk.last_line},
          {"text", chunk.text},       {"content_hash", chunk.content_hash}, {"score", chunk.score},
          {"found_by", chunk.reason}, {"metadata", std::move(metadata)}};
}

JsonObject render_node(const code::GraphNode& node) {
  JsonObject out{{"source_type", to_string(node.type)}, {"symbol", node.symbol},       {"path", node.path},
                 {"first_line", node.first_line},       {"last_line", node.last_line}, {"metadata", facts_json(node.facts)}};
  if (!node.kind.empty()) out["kind"] = node.kind;
  return out;
}

}  // namespace

Result<Project> parse_project(const Json& body, Project before) {
  FOOTNOTE_TRY(const JsonReader reader, JsonReader::of(body));
  FOOTNOTE_CHECK(reader.only({"slug", "root", "default_branch"}));
  FOOTNOTE_TRY(const auto slug, reader.optional_string("slug", kProjectSlugBytesMax));
  FOOTNOTE_TRY(const auto root, reader.optional_string("root", kProjectTextBytesMax));
  FOOTNOTE_TRY(const auto branch, reader.optional_string("default_branch", kProjectTextBytesMax));
  if (slug) before.slug = *slug;
  if (root) before.root = *root;
  if (branch) before.default_branch = *branch;
  return before;
}

JsonObject render_job(const project::IndexJob& job) {
  JsonObject out{{"id", job.id},
                 {"status", to_string(job.state)},
                 {"queued_at", to_rfc3339(job.queued_at)},
                 {"ended_at", optional_time(job.ended_at)}};
  if (!job.problem.empty()) out["problem"] = job.problem;
  if (job.state != project::IndexJob::State::kDone) return out;
  const project::IndexReport& report = job.report;
  JsonArray problems;
  for (const ingest::Problem& problem : report.problems) problems.push_back(JsonObject{{"path", problem.path}, {"reason", problem.reason}});
  out["report"] = JsonObject{{"files", report.files},
                             {"changed", report.changed},
                             {"unchanged", report.unchanged},
                             {"deleted", report.deleted},
                             {"chunks", report.chunks},
                             {"embedded", report.embedded},
                             {"reused", report.reused},
                             {"secret_chunks", report.secret_chunks},
                             {"tables", report.tables},
                             {"problems", std::move(problems)},
                             {"problems_left_out", report.problems_left_out}};
  return out;
}

JsonObject render_project(const Project& project, const std::optional<project::IndexJob>& job, ShowRoot root) {
  JsonObject out{{"slug", project.slug},
                 {"default_branch", project.default_branch},
                 {"framework_detected", optional_text(project.framework)},
                 {"language_detected", optional_text(project.language)},
                 {"status", to_string(project.status)},
                 {"problem", optional_text(project.problem)},
                 {"created_at", to_rfc3339(project.created_at)},
                 {"indexed_at", optional_time(project.indexed_at)}};
  if (root == ShowRoot::kYes) out["root"] = optional_text(project.root);
  out["job"] = job ? Json(render_job(*job)) : Json(nullptr);
  return out;
}

Result<AskedProject> parse_retrieve(const Json& body) {
  FOOTNOTE_TRY(const JsonReader reader, JsonReader::of(body));
  FOOTNOTE_CHECK(reader.only({"query", "top_k", "source_types", "must_include_paths", "route_name", "controller_class", "table_name",
                              "include_run_summaries", "min_score", "context_tokens"}));
  AskedProject out;
  FOOTNOTE_TRY(out.query, reader.required_string("query", retrieve::kQuestionBytesMax));
  FOOTNOTE_TRY(const auto top_k, reader.optional_integer("top_k", 1, project::kTopKMax));
  FOOTNOTE_TRY(const auto types, reader.optional_strings("source_types", kNamesMax, kNameBytesMax));
  FOOTNOTE_TRY(const auto paths, reader.optional_strings("must_include_paths", kNamesMax, kNameBytesMax));
  FOOTNOTE_TRY(const auto route, reader.optional_string("route_name", kNameBytesMax));
  FOOTNOTE_TRY(const auto controller, reader.optional_string("controller_class", kNameBytesMax));
  FOOTNOTE_TRY(const auto table, reader.optional_string("table_name", kNameBytesMax));
  FOOTNOTE_TRY(const auto runs, reader.optional_bool("include_run_summaries"));
  FOOTNOTE_TRY(const auto score, reader.optional_number("min_score", 0, 1));
  FOOTNOTE_TRY(const auto tokens, reader.optional_integer("context_tokens", 1, project::kContextTokensMax));
  if (top_k) out.options.top_k = static_cast<std::size_t>(*top_k);
  if (tokens) out.options.context_tokens = static_cast<std::size_t>(*tokens);
  for (const std::string& name : types.value_or(std::vector<std::string>{})) {
    const auto type = code::parse_source_type(name);
    if (!type) return fail_field(ErrorCode::kInvalidArgument, "source_types", "there is no source type '{}'", name);
    out.options.source_types.push_back(*type);
  }
  out.options.must_include_paths = paths.value_or(std::vector<std::string>{});
  out.options.route_name = route.value_or("");
  out.options.controller_class = controller.value_or("");
  out.options.table_name = table.value_or("");
  out.options.include_run_summaries = runs.value_or(true);
  out.options.min_score = score.value_or(project::kMinScoreDefault);
  return out;
}

JsonObject render_retrieved(const project::RetrieveResult& found, double latency_ms) {
  JsonArray chunks;
  JsonObject scores;
  for (const project::FoundChunk& chunk : found.chunks) {
    chunks.push_back(render_chunk(chunk));
    scores[chunk.id] = chunk.score;
  }
  JsonObject debug{{"strategy", found.strategy},
                   {"latency_ms", latency_ms},
                   {"total_candidates", found.candidates},
                   {"scores", std::move(scores)},
                   {"subject", optional_text(found.subject)},
                   {"edges", texts_json(found.edges)},
                   {"dropped", texts_json(found.dropped)}};
  JsonObject out{{"chunks", std::move(chunks)}, {"debug", std::move(debug)}};
  if (found.chunks.empty()) {
    out["clarification"] = JsonObject{{"question", clarifying_question(found)}, {"nearest", texts_json(found.nearest)}};
  }
  return out;
}

JsonObject render_graph(const code::Graph& graph, const std::vector<const code::GraphNode*>& start,
                        const std::vector<code::GraphEdge>& edges) {
  std::vector<const code::GraphNode*> nodes = start;
  const auto number_of = [&](const code::GraphNode* node) {
    const auto found = std::ranges::find(nodes, node);
    if (found != nodes.end()) return found - nodes.begin();
    nodes.push_back(node);
    return static_cast<std::ptrdiff_t>(nodes.size()) - 1;
  };
  JsonArray links;
  for (const code::GraphEdge& edge : edges) {
    const auto from = number_of(edge.from);
    links.push_back(JsonObject{{"from", from}, {"type", edge.type}, {"to", number_of(edge.to)}});
  }
  JsonArray list;
  for (const code::GraphNode* node : nodes) {
    JsonObject item = render_node(*node);
    if (const auto stale = graph.stale_mentions(*node); !stale.empty()) item["stale"] = texts_json(stale);
    list.push_back(std::move(item));
  }
  return {{"nodes", std::move(list)}, {"edges", std::move(links)}};
}

}  // namespace footnote::api
