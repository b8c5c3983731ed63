#include "api/edge_routes.h"

#include "api/kb_filters.h"

namespace footnote::api {

namespace {

using access::Caller;

constexpr std::size_t kWordBytesMax = 200;

struct AskedEdges {
  Corpus corpus;
  std::vector<Edge> edges;
};

Result<Edge> read_edge(const Json& value, std::size_t index) {
  FOOTNOTE_TRY(const JsonReader reader, JsonReader::of(value, fmt::format("edges[{}]", index)));
  FOOTNOTE_CHECK(reader.only({"from", "to", "type", "weight"}));
  Edge edge;
  FOOTNOTE_TRY(edge.from_key, reader.required_string("from", kFilterPathBytesMax));
  FOOTNOTE_TRY(edge.to_key, reader.required_string("to", kFilterPathBytesMax));
  FOOTNOTE_TRY(edge.type, reader.required_string("type", kWordBytesMax));
  FOOTNOTE_TRY(const auto weight, reader.optional_number("weight", 0, 1));
  const auto usual = edge_weight(edge.type);
  if (!usual) {
    return fail_field(ErrorCode::kInvalidArgument, fmt::format("edges[{}].type", index),
                      "'{}' is not a type of edge: implements, supersedes, decision_for, depends_on, uses, affects, invalidated_by, "
                      "documented_by, owned_by or related_to",
                      edge.type);
  }
  if (edge.from_key == edge.to_key) {
    return fail_field(ErrorCode::kInvalidArgument, fmt::format("edges[{}].to", index), "an edge leads to another document");
  }
  edge.weight = weight.value_or(*usual);
  edge.provenance = "api";
  return edge;
}

Result<AskedEdges> read_edges(const ConversationServices& services, const Caller& caller, const http::Request& request,
                              const CallContext& call) {
  FOOTNOTE_TRY(const Json body, parse_request_json(request.body));
  FOOTNOTE_TRY(const JsonReader reader, JsonReader::of(body));
  FOOTNOTE_CHECK(reader.only({"project_key", "edges"}));
  FOOTNOTE_TRY(const auto project, reader.optional_string("project_key", kWordBytesMax));
  FOOTNOTE_TRY(const JsonArray* given, reader.required_array("edges", kEdgesAtOnceMax));
  AskedEdges out;
  for (std::size_t i = 0; i < given->size(); ++i) {
    FOOTNOTE_TRY(Edge edge, read_edge((*given)[i], i));
    out.edges.push_back(std::move(edge));
  }
  FOOTNOTE_TRY(out.corpus, services.catalog.find_corpus(call, caller.workspace, project.value_or(std::string(kDefaultCorpus))));
  return out;
}

Result<http::Response> add(const ConversationServices& services, const Caller& caller, const http::Request& request,
                           const CallContext& call) {
  FOOTNOTE_TRY(const AskedEdges asked, too_much_is_invalid(read_edges(services, caller, request, call)));
  for (const Edge& edge : asked.edges) FOOTNOTE_CHECK(services.edges.put_edge(call, asked.corpus.id, edge));
  return http::Response::json(200, JsonObject{{"project_key", asked.corpus.name}, {"stored", asked.edges.size()}});
}

Result<http::Response> remove(const ConversationServices& services, const Caller& caller, const http::Request& request,
                              const CallContext& call) {
  FOOTNOTE_TRY(const AskedEdges asked, too_much_is_invalid(read_edges(services, caller, request, call)));
  std::size_t removed = 0;
  for (const Edge& edge : asked.edges) {
    FOOTNOTE_TRY(const bool was_there, services.edges.remove_edge(call, asked.corpus.id, edge));
    if (was_there) ++removed;
  }
  return http::Response::json(200, JsonObject{{"project_key", asked.corpus.name}, {"removed", removed}});
}

}  // namespace

std::vector<Route> make_edge_routes(const ConversationServices& services) {
  using http::Method;
  const auto row = [&](Method method, auto function, std::string summary) {
    return Route{.access = Access::with(KeyScope::kIngest),
                 .method = method,
                 .pattern = "/api/kb/edges",
                 .handler = bind(services, function),
                 .summary = std::move(summary)};
  };
  return {row(Method::kPost, add, "Add relations between documents"), row(Method::kDelete, remove, "Remove added relations")};
}

}  // namespace footnote::api
