#include "code/joins.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/text.h"

namespace footnote::code {
namespace {

constexpr std::size_t kIdentifiersMax = 16;

bool is_identifier_char(char c) {
  return is_ascii_alphanumeric(c) || c == '_' || c == '\\' || c == ':' || c == '.' || c == '/' || c == '-' || c == '{' || c == '}' ||
         c == '$';
}

bool looks_like_identifier(std::string_view word) {
  if (word.size() < 2) return false;
  if (word.find_first_of("_\\./:") != std::string_view::npos) return true;
  for (std::size_t i = 1; i < word.size(); ++i) {
    if (is_ascii_upper(word[i]) && is_ascii_lower(word[i - 1])) return true;
  }
  return false;
}

void add_node(Join& join, const GraphNode* node) {
  if (std::ranges::find(join.nodes, node) == join.nodes.end()) join.nodes.push_back(node);
}

bool has_word(std::string_view text, std::initializer_list<std::string_view> words) {
  const std::string lower = to_lower_ascii(text);
  return std::ranges::any_of(words, [&](std::string_view word) { return lower.find(word) != std::string::npos; });
}

/// Follows edges of these types from each node of the list, once.
std::vector<const GraphNode*> follow(const Graph& graph, Join& join, const std::vector<const GraphNode*>& from, auto&& wanted) {
  std::vector<const GraphNode*> out;
  for (const GraphNode* node : from) {
    for (const GraphEdge& edge : graph.edges_from(*node)) {
      if (!wanted(edge)) continue;
      join.edges.push_back(edge);
      add_node(join, edge.to);
      if (std::ranges::find(out, edge.to) == out.end()) out.push_back(edge.to);
    }
  }
  return out;
}

/// Words of the question that could name a table or class, longest first; identifiers before plain words.
std::vector<std::string> candidates(std::string_view question) {
  std::vector<std::string> out = identifiers_in(question);
  std::string word;
  std::vector<std::string> plain;
  for (const char c : std::string(question) + " ") {
    if (is_ascii_alphanumeric(c) || c == '_') {
      word += c;
    } else if (!word.empty()) {
      plain.push_back(std::exchange(word, {}));
    }
  }
  for (std::string& text : plain) {
    if (std::ranges::find(out, text) == out.end() && out.size() < 4 * kIdentifiersMax) out.push_back(std::move(text));
  }
  return out;
}

}  // namespace

std::vector<std::string> identifiers_in(std::string_view question) {
  std::vector<std::string> out;
  const auto add = [&](std::string_view word) {
    while (!word.empty() && (word.back() == '.' || word.back() == ':' || word.back() == '-')) word.remove_suffix(1);
    if (word.empty() || out.size() >= kIdentifiersMax) return;
    if (std::ranges::find(out, word) == out.end()) out.emplace_back(word);
  };
  for (const char quote : {'`', '"', '\''}) {
    for (std::size_t at = question.find(quote); at != std::string_view::npos;) {
      const std::size_t end = question.find(quote, at + 1);
      if (end == std::string_view::npos) break;
      const std::string_view inner = question.substr(at + 1, end - at - 1);
      if (!inner.empty() && inner.find(' ') == std::string_view::npos) add(inner);
      at = question.find(quote, end + 1);
    }
  }
  for (std::size_t at = 0; at < question.size();) {
    std::size_t end = at;
    while (end < question.size() && is_identifier_char(question[end])) ++end;
    std::string_view word = question.substr(at, end - at);
    while (!word.empty() && (word.back() == '.' || word.back() == ':')) word.remove_suffix(1);
    if (looks_like_identifier(word)) add(word);
    at = std::max(end, at + 1);
  }
  return out;
}

std::optional<Join> join_route(const Graph& graph, std::string_view route_name) {
  Join out{.strategy = "route_walk"};
  std::vector<const GraphNode*> routes;
  for (const GraphNode* node : graph.find(route_name)) {
    if (node->type == SourceType::kRoute && node->kind != "group") routes.push_back(node);
  }
  if (routes.empty()) return std::nullopt;
  out.subject = routes.front()->symbol;
  for (const GraphNode* route : routes) add_node(out, route);
  const auto methods = follow(graph, out, routes, [](const GraphEdge& edge) { return edge.type == "served_by"; });
  const auto is_model = [](const GraphEdge& edge) { return edge.to->type == SourceType::kModel && edge.type == "uses"; };
  // A controller may leave the work to a service, a job or an event.
  const auto helpers = follow(graph, out, methods, [](const GraphEdge& edge) {
    return edge.type == "uses" && (edge.to->type == SourceType::kService || edge.to->type == SourceType::kJob ||
                                   edge.to->type == SourceType::kRequest || edge.to->type == SourceType::kResource);
  });
  auto models = follow(graph, out, methods, is_model);
  std::vector<const GraphNode*> members;
  for (const GraphNode* helper : helpers) {
    if (helper->type != SourceType::kService && helper->type != SourceType::kJob) continue;
    for (const GraphEdge& edge : graph.edges_from(*helper)) {
      if (edge.type == "contains") members.push_back(edge.to);
    }
  }
  for (const GraphNode* model : follow(graph, out, members, is_model)) models.push_back(model);
  follow(graph, out, models, [](const GraphEdge& edge) { return edge.type == "stored_in"; });
  return out;
}

std::optional<Join> join_table(const Graph& graph, std::string_view table) {
  Join out{.strategy = "table_migrations"};
  for (const GraphNode* node : graph.find(table)) {
    if (node->type != SourceType::kTable) continue;
    out.subject = node->symbol;
    // In the order of the migrations, not of the graph.
    for (const Reference& reference : node->references) {
      if (reference.kind != RefKind::kCreates && reference.kind != RefKind::kAlters) continue;
      for (const GraphNode* migration : graph.find(reference.from)) {
        if (migration->type != SourceType::kMigration) continue;
        add_node(out, migration);
        out.edges.push_back({migration, edge_type(reference.kind), node});
      }
    }
    add_node(out, node);
  }
  if (out.nodes.empty()) return std::nullopt;
  return out;
}

std::optional<Join> join_changes(const Graph& graph, std::string_view name) {
  Join out{.strategy = "file_changes"};
  std::set<std::string, std::less<>> paths;
  if (graph.has_file(name)) paths.emplace(name);
  for (const GraphNode* node : graph.find(name)) {
    if (node->type == SourceType::kFileChange) continue;
    if (out.subject.empty()) out.subject = node->symbol;
    paths.insert(node->path);
  }
  for (const GraphNode* node : graph.nodes()) {
    if (node->type != SourceType::kFileChange) continue;
    const std::string& path = node->fact("path");
    // A file that is gone is known by its name alone.
    const std::string_view file = std::string_view(path).substr(path.rfind('/') + 1);
    if (paths.contains(path) || file.substr(0, file.find('.')) == last_name(name)) add_node(out, node);
  }
  if (out.nodes.empty()) return std::nullopt;
  if (out.subject.empty()) out.subject = name;
  return out;
}

std::optional<Join> join_question(const Graph& graph, std::string_view question) {
  const auto names = candidates(question);
  const auto first = [&](auto&& join) -> std::optional<Join> {
    for (const std::string& name : names) {
      if (auto found = join(graph, name)) return found;
    }
    return std::nullopt;
  };
  if (has_word(question, {"migration"})) {
    if (auto found = first(join_table)) return found;
  }
  if (has_word(question, {"previous run", "earlier run", "last run", "runs change", "changed about", "change about", "file change"})) {
    if (auto found = first(join_changes)) return found;
  }
  if (has_word(question, {"route", "endpoint", "controller serves", "handles"})) {
    if (auto found = first(join_route)) return found;
  }
  return std::nullopt;
}

}  // namespace footnote::code
