#include "code/graph.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "base/text.h"

namespace footnote::code {
namespace {

const std::string kEmpty;

bool is_code(const GraphNode& node) { return !is_prose(node.type) && node.type != SourceType::kFileChange; }

bool is_class(const GraphNode& node) {
  return is_code(node) && node.type != SourceType::kTable && node.type != SourceType::kRoute && node.type != SourceType::kMigration &&
         node.symbol.find("::") == std::string::npos;
}

void add_range(std::vector<const GraphNode*>& out, auto range) {
  for (auto at = range.first; at != range.second; ++at) out.push_back(at->second);
}

/// Iteration order of a hash table is no order.
void sort_nodes(std::vector<const GraphNode*>& nodes) {
  std::ranges::sort(nodes, [](const GraphNode* a, const GraphNode* b) {
    return std::tie(a->path, a->first_line, a->symbol) < std::tie(b->path, b->first_line, b->symbol);
  });
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
}

bool ends_with_name(std::string_view symbol, std::string_view name) {
  if (!symbol.ends_with(name)) return false;
  if (symbol.size() == name.size()) return true;
  const char before = symbol[symbol.size() - name.size() - 1];
  return before == '\\' || before == ':' || before == '.' || before == '/' || before == ' ';
}

bool looks_like_path(std::string_view name) {
  const std::size_t dot = name.rfind('.');
  return name.find('/') != std::string_view::npos && dot != std::string_view::npos && dot > name.rfind('/') &&
         name.find("://") == std::string_view::npos && name.find('*') == std::string_view::npos && name.find('{') == std::string_view::npos;
}

}  // namespace

std::string_view edge_type(RefKind kind) {
  switch (kind) {
    case RefKind::kHandler: return "served_by";
    case RefKind::kClass:
    case RefKind::kParameter:
    case RefKind::kName: return "uses";
    case RefKind::kTable: return "stored_in";
    case RefKind::kRelation: return "relates_to";
    case RefKind::kCreates: return "creates";
    case RefKind::kAlters: return "alters";
    case RefKind::kDrops: return "drops";
    case RefKind::kForeignKey: return "references";
    case RefKind::kHandles: return "handles";
    case RefKind::kGuards: return "guards";
    case RefKind::kTests: return "tests";
    case RefKind::kMentions: return "mentions";
    case RefKind::kOperation: return "documents";
  }
  return "uses";
}

const std::string& GraphNode::fact(std::string_view name) const {
  const auto found = facts.find(name);
  return found == facts.end() || found->second.empty() ? kEmpty : found->second.front();
}

std::vector<GraphNode> nodes_of(std::string_view path, const CodeFile& file) {
  std::vector<GraphNode> out;
  for (const Unit& unit : file.units) {
    if (unit.part > 1) {
      // The node covers all parts.
      if (!out.empty() && out.back().symbol == unit.symbol) out.back().last_line = unit.last_line;
      continue;
    }
    out.push_back({std::string(path), unit.type, unit.kind, unit.symbol, unit.first_line, unit.last_line, unit.facts, unit.references});
  }
  return out;
}

void Graph::unlink(const std::vector<GraphNode>& nodes) {
  const auto erase = [](auto& index, const std::string& key, const auto& is_ours) {
    auto [at, end] = index.equal_range(key);
    while (at != end) at = is_ours(at->second) ? index.erase(at) : std::next(at);
  };
  for (const GraphNode& node : nodes) {
    const auto is_node = [&](const GraphNode* other) { return other == &node; };
    const auto is_holder = [&](const Incoming& incoming) { return incoming.holder == &node; };
    erase(symbols_, node.symbol, is_node);
    erase(last_names_, std::string(last_name(node.symbol)), is_node);
    if (const auto operations = node.facts.find("operations"); operations != node.facts.end()) {
      for (const std::string& operation : operations->second) erase(operations_, operation, is_node);
    }
    for (const Reference& reference : node.references) {
      erase(targets_, reference.target, is_holder);
      if (!reference.from.empty()) erase(targets_, reference.from, is_holder);
    }
  }
}

void Graph::remove_file(const std::string& path) {
  const auto found = files_.find(path);
  if (found == files_.end()) return;
  unlink(found->second);
  files_.erase(found);
}

void Graph::set_file(const std::string& path, std::vector<GraphNode> nodes) {
  remove_file(path);
  const std::vector<GraphNode>& stored = files_.emplace(path, std::move(nodes)).first->second;
  for (const GraphNode& node : stored) {
    symbols_.emplace(node.symbol, &node);
    last_names_.emplace(std::string(last_name(node.symbol)), &node);
    if (const auto operations = node.facts.find("operations"); operations != node.facts.end() && node.type == SourceType::kRoute) {
      for (const std::string& operation : operations->second) operations_.emplace(operation, &node);
    }
    for (std::size_t i = 0; i < node.references.size(); ++i) {
      targets_.emplace(node.references[i].target, Incoming{&node, i});
      if (!node.references[i].from.empty()) targets_.emplace(node.references[i].from, Incoming{&node, i});
    }
  }
}

std::vector<const GraphNode*> Graph::nodes() const {
  std::vector<const GraphNode*> out;
  for (const auto& [path, nodes] : files_) {
    for (const GraphNode& node : nodes) out.push_back(&node);
  }
  return out;
}

const std::vector<GraphNode>& Graph::nodes_of_file(std::string_view path) const {
  static const std::vector<GraphNode> none;
  const auto found = files_.find(path);
  return found == files_.end() ? none : found->second;
}

std::vector<const GraphNode*> Graph::by_symbol(std::string_view symbol) const {
  std::vector<const GraphNode*> out;
  add_range(out, symbols_.equal_range(std::string(symbol)));
  sort_nodes(out);
  return out;
}

std::vector<const GraphNode*> Graph::by_last_name(std::string_view name) const {
  std::vector<const GraphNode*> out;
  add_range(out, last_names_.equal_range(std::string(name)));
  sort_nodes(out);
  return out;
}

std::vector<const GraphNode*> Graph::mentioned(std::string_view name) const {
  auto out = by_symbol(name);
  std::erase_if(out, [](const GraphNode* node) { return !is_code(*node); });
  if (!out.empty()) return out;
  for (const GraphNode* node : by_last_name(last_name(name))) {
    // A single word in prose is a definition only if it is a type: `index` is no mention of every method of that name.
    const bool named = name.find_first_of("\\:.") != std::string_view::npos ? ends_with_name(node->symbol, name)
                                                                            : is_class(*node) && is_ascii_upper(name.front());
    if (is_code(*node) && named) out.push_back(node);
  }
  if (out.size() > kSameNameMax) out.clear();
  if (out.empty() && looks_like_path(name)) {
    const std::vector<GraphNode>& file = nodes_of_file(name);
    if (!file.empty()) out.push_back(&file.front());
  }
  return out;
}

std::vector<const GraphNode*> Graph::resolve(const GraphNode& holder, const Reference& reference) const {
  std::vector<const GraphNode*> out;
  switch (reference.kind) {
    case RefKind::kHandler:
      out = by_symbol(reference.target);
      std::erase_if(out, [](const GraphNode* node) { return node->type == SourceType::kRoute; });
      return out;
    case RefKind::kClass:
    case RefKind::kParameter:
    case RefKind::kRelation:
    case RefKind::kHandles:
    case RefKind::kTests:
      out = by_symbol(reference.target);
      std::erase_if(out, [](const GraphNode* node) { return !is_class(*node); });
      return out;
    case RefKind::kGuards:
      out = by_symbol(reference.target);
      if (out.empty()) out = by_last_name(reference.target);
      std::erase_if(out, [](const GraphNode* node) { return node->type != SourceType::kModel || !is_class(*node); });
      return out;
    case RefKind::kTable:
    case RefKind::kCreates:
    case RefKind::kAlters:
    case RefKind::kDrops:
    case RefKind::kForeignKey:
      out = by_symbol(reference.target);
      std::erase_if(out, [](const GraphNode* node) { return node->type != SourceType::kTable; });
      return out;
    case RefKind::kName:
      out = by_last_name(reference.target);
      std::erase_if(out, [&](const GraphNode* node) { return node->type != SourceType::kSymbol || node == &holder; });
      if (std::ranges::any_of(out, [&](const GraphNode* node) { return node->path == holder.path; })) {
        std::erase_if(out, [&](const GraphNode* node) { return node->path != holder.path; });
      }
      if (out.size() > kSameNameMax) out.clear();
      return out;
    case RefKind::kMentions: return mentioned(reference.target);
    case RefKind::kOperation:
      add_range(out, operations_.equal_range(reference.target));
      sort_nodes(out);
      return out;
  }
  return out;
}

const GraphNode* Graph::source_of(const GraphNode& holder, const Reference& reference) const {
  if (reference.from.empty()) return &holder;
  const auto named = by_symbol(reference.from);
  return named.empty() ? nullptr : named.front();
}

void Graph::add_validated_routes(const GraphNode& request, std::vector<GraphEdge>& out) const {
  const auto [begin, end] = targets_.equal_range(request.symbol);
  for (auto at = begin; at != end; ++at) {
    const GraphNode& method = *at->second.holder;
    if (method.references[at->second.reference].kind != RefKind::kParameter) continue;
    const auto [first, last] = targets_.equal_range(method.symbol);
    for (auto route = first; route != last; ++route) {
      if (route->second.holder->references[route->second.reference].kind != RefKind::kHandler) continue;
      out.push_back({&request, "validates", route->second.holder});
    }
  }
}

std::vector<GraphEdge> Graph::edges_from(const GraphNode& node) const {
  std::vector<GraphEdge> out;
  const auto add = [&](const GraphNode& holder, const Reference& reference) {
    for (const GraphNode* target : resolve(holder, reference)) {
      if (target != &node) out.push_back({&node, edge_type(reference.kind), target});
    }
  };
  for (const Reference& reference : node.references) {
    if (reference.from.empty()) add(node, reference);
  }
  // What others say of it: a provider's list of listeners, a table's migrations.
  const auto [begin, end] = targets_.equal_range(node.symbol);
  for (auto at = begin; at != end; ++at) {
    const Reference& reference = at->second.holder->references[at->second.reference];
    if (reference.from == node.symbol) add(*at->second.holder, reference);
  }
  if (node.type == SourceType::kRequest && is_class(node)) add_validated_routes(node, out);
  if (is_class(node)) {
    for (const GraphNode& member : nodes_of_file(node.path)) {
      if (member.symbol.starts_with(node.symbol + "::")) out.push_back({&node, "contains", &member});
    }
  }
  std::ranges::sort(out, [](const GraphEdge& a, const GraphEdge& b) {
    return std::tie(a.type, a.to->symbol, a.to->path) < std::tie(b.type, b.to->symbol, b.to->path);
  });
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

std::vector<GraphEdge> Graph::edges_to(const GraphNode& node) const {
  // Whoever names it by one of its names; each of them says whether it is an edge.
  std::set<const GraphNode*> candidates;
  const auto collect = [&](const std::string& name) {
    const auto [begin, end] = targets_.equal_range(name);
    for (auto at = begin; at != end; ++at) {
      const Reference& reference = at->second.holder->references[at->second.reference];
      if (const GraphNode* from = source_of(*at->second.holder, reference)) candidates.insert(from);
    }
  };
  collect(node.symbol);
  collect(std::string(last_name(node.symbol)));
  collect(node.path);
  if (const std::size_t method = node.symbol.find("::"); method != std::string::npos) {
    const std::size_t space = node.symbol.rfind('\\', method);
    if (space != std::string::npos) collect(node.symbol.substr(space + 1));
    for (const GraphNode* owner : by_symbol(node.symbol.substr(0, method))) candidates.insert(owner);
  }
  if (const auto operations = node.facts.find("operations"); operations != node.facts.end()) {
    for (const std::string& operation : operations->second) collect(operation);
  }
  if (node.type == SourceType::kRoute) {
    for (const GraphEdge& served : edges_from(node)) {
      if (served.type != "served_by") continue;
      for (const GraphEdge& used : edges_from(*served.to)) candidates.insert(used.to);
    }
  }
  std::vector<const GraphNode*> order(candidates.begin(), candidates.end());
  sort_nodes(order);
  std::vector<GraphEdge> out;
  for (const GraphNode* candidate : order) {
    for (const GraphEdge& edge : edges_from(*candidate)) {
      if (edge.to == &node) out.push_back(edge);
    }
  }
  return out;
}

std::vector<GraphEdge> Graph::all_edges() const {
  std::vector<GraphEdge> out;
  for (const GraphNode* node : nodes()) {
    for (const GraphEdge& edge : edges_from(*node)) out.push_back(edge);
  }
  return out;
}

std::vector<GraphEdge> Graph::around(const std::vector<const GraphNode*>& start, int hops) const {
  std::vector<GraphEdge> out;
  std::set<const GraphNode*> seen(start.begin(), start.end());
  std::vector<const GraphNode*> open = start;
  for (int hop = 0; hop < std::min(hops, kHopsMax); ++hop) {
    std::vector<const GraphNode*> next;
    for (const GraphNode* node : open) {
      for (const bool outward : {true, false}) {
        for (const GraphEdge& edge : outward ? edges_from(*node) : edges_to(*node)) {
          if (out.size() >= kWalkEdgesMax) return out;
          if (std::ranges::find(out, edge) == out.end()) out.push_back(edge);
          const GraphNode* other = outward ? edge.to : edge.from;
          if (seen.insert(other).second) next.push_back(other);
        }
      }
    }
    open = std::move(next);
  }
  return out;
}

std::vector<const GraphNode*> Graph::find(std::string_view name) const {
  while (name.starts_with('\\')) name.remove_prefix(1);
  if (name.ends_with("()")) name.remove_suffix(2);
  if (name.empty()) return {};
  auto out = by_symbol(name);
  const auto add = [&](const GraphNode* node) {
    if (std::ranges::find(out, node) == out.end()) out.push_back(node);
  };
  if (out.empty()) {
    for (const GraphNode* node : by_last_name(last_name(name))) {
      if (ends_with_name(node->symbol, name)) add(node);
    }
  }
  if (out.empty() && name.find('/') != std::string_view::npos) {
    for (const GraphNode& node : nodes_of_file(name)) add(&node);
    for (const GraphNode* node : nodes()) {
      if (node->type == SourceType::kRoute && node->fact("uri") == name) add(node);
    }
  }
  return out;
}

std::vector<std::string> Graph::stale_mentions(const GraphNode& node) const {
  std::set<std::string> out;
  if (!is_prose(node.type)) return {};
  for (const Reference& reference : node.references) {
    if (reference.kind != RefKind::kMentions || !mentioned(reference.target).empty()) continue;
    const std::string_view name = reference.target;
    if (const std::size_t method = name.find("::"); method != std::string_view::npos) {
      const auto owners = mentioned(name.substr(0, method));
      if (std::ranges::any_of(owners, [](const GraphNode* owner) { return is_class(*owner); })) out.emplace(name);
    } else if (name.find('\\') != std::string_view::npos) {
      const std::string root(name.substr(0, name.find('\\') + 1));
      const bool is_own = std::ranges::any_of(symbols_, [&](const auto& entry) { return entry.first.starts_with(root); });
      if (is_own) out.emplace(name);
    } else if (looks_like_path(name) && !has_file(name)) {
      const std::string folder(name.substr(0, name.find('/') + 1));
      const auto at = files_.lower_bound(folder);
      if (at != files_.end() && at->first.starts_with(folder) && detect(name).language != Language::kNone) out.emplace(name);
    }
  }
  return {out.begin(), out.end()};
}

std::vector<std::string> Graph::nearest(std::string_view name, std::size_t limit) const {
  const std::string wanted = to_lower_ascii(last_name(name));
  const std::size_t far = std::max<std::size_t>(2, wanted.size() / 2);
  std::vector<std::pair<std::size_t, std::string>> found;
  for (const GraphNode* node : nodes()) {
    if (!is_code(*node)) continue;
    const std::string own = to_lower_ascii(last_name(node->symbol));
    const bool holds = !wanted.empty() && own.find(wanted) != std::string::npos;
    const std::size_t distance = holds ? 1 : edit_distance(own, wanted, far);
    if (distance <= far) found.emplace_back(distance, node->symbol);
  }
  std::ranges::sort(found);
  std::vector<std::string> out;
  for (auto& [distance, symbol] : found) {
    if (out.size() < limit && std::ranges::find(out, symbol) == out.end()) out.push_back(symbol);
  }
  return out;
}

std::vector<Unit> table_units(std::span<const Migration> migrations, std::vector<std::string>& paths) {
  std::vector<Unit> out;
  paths.clear();
  for (const auto& [name, table] : apply_migrations(migrations)) {
    out.push_back(table_unit(table));
    paths.push_back(table.steps.front().path);
  }
  return out;
}

std::string to_lines(const std::vector<GraphEdge>& edges) {
  std::vector<std::string> lines;
  for (const GraphEdge& edge : edges) {
    lines.push_back(std::string(to_string(edge.from->type)) + " " + edge.from->symbol + " -" + std::string(edge.type) + "-> " +
                    std::string(to_string(edge.to->type)) + " " + edge.to->symbol);
  }
  std::ranges::sort(lines);
  lines.erase(std::unique(lines.begin(), lines.end()), lines.end());
  std::string out;
  for (const std::string& line : lines) out += line + "\n";
  return out;
}

}  // namespace footnote::code
