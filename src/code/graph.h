#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "code/code_file.h"

namespace footnote::code {

/// A name that more definitions than this have is no reference to any of them.
inline constexpr std::size_t kSameNameMax = 8;
/// A walk through the graph ends with this many edges.
inline constexpr std::size_t kWalkEdgesMax = 500;
inline constexpr int kHopsMax = 4;
/// The path of the nodes that no single file makes: the tables.
inline constexpr std::string_view kTablesPath = "@tables";

/// A unit without its text.
struct GraphNode {
  std::string path;
  SourceType type = SourceType::kSymbol;
  std::string kind;
  std::string symbol;
  int first_line = 1;
  int last_line = 1;
  Facts facts;
  std::vector<Reference> references;

  const std::string& fact(std::string_view name) const;
};

/// Nodes of a file: of a unit in several parts, the first one.
std::vector<GraphNode> nodes_of(std::string_view path, const CodeFile& file);

/// Borrows its nodes from the graph.
struct GraphEdge {
  const GraphNode* from = nullptr;
  std::string_view type;  ///< "served_by", "uses", "stored_in" ...: see edge_type().
  const GraphNode* to = nullptr;

  bool operator==(const GraphEdge&) const = default;
};

/// All units of a project and what they say about each other. References are names; they are resolved when they are asked for, so a file
/// can be replaced alone. Not thread-safe.
class Graph {
 public:
  Graph() = default;
  Graph(Graph&&) = default;
  Graph& operator=(Graph&&) = default;

  /// Replaces the file's nodes. Pointers to its old nodes become invalid.
  void set_file(const std::string& path, std::vector<GraphNode> nodes);
  void remove_file(const std::string& path);

  std::size_t files() const { return files_.size(); }
  bool has_file(std::string_view path) const { return files_.find(path) != files_.end(); }
  std::vector<const GraphNode*> nodes() const;
  const std::vector<GraphNode>& nodes_of_file(std::string_view path) const;

  /// Nodes that a person means by a name, best match first: a full symbol, a route's name or address, "Class::method", a last name, a
  /// path. Empty if nothing has it.
  std::vector<const GraphNode*> find(std::string_view name) const;

  std::vector<GraphEdge> edges_from(const GraphNode& node) const;
  std::vector<GraphEdge> edges_to(const GraphNode& node) const;
  std::vector<GraphEdge> all_edges() const;
  /// Edges within `hops` of the nodes, nearest first, at most kWalkEdgesMax.
  std::vector<GraphEdge> around(const std::vector<const GraphNode*>& start, int hops) const;

  /// Names that a section mentions and that the project had: a class whose method is gone, a class of the project's own namespaces, a
  /// path. Sorted. Empty for nodes that are no prose.
  std::vector<std::string> stale_mentions(const GraphNode& node) const;
  /// Symbols and paths that are nearest to a name, for "did you mean".
  std::vector<std::string> nearest(std::string_view name, std::size_t limit) const;

 private:
  struct Incoming {
    const GraphNode* holder;
    std::size_t reference;
  };

  std::vector<const GraphNode*> resolve(const GraphNode& holder, const Reference& reference) const;
  const GraphNode* source_of(const GraphNode& holder, const Reference& reference) const;
  std::vector<const GraphNode*> by_symbol(std::string_view symbol) const;
  std::vector<const GraphNode*> by_last_name(std::string_view name) const;
  std::vector<const GraphNode*> mentioned(std::string_view name) const;
  void add_validated_routes(const GraphNode& request, std::vector<GraphEdge>& out) const;
  void unlink(const std::vector<GraphNode>& nodes);

  std::map<std::string, std::vector<GraphNode>, std::less<>> files_;
  std::unordered_multimap<std::string, const GraphNode*> symbols_;
  std::unordered_multimap<std::string, const GraphNode*> last_names_;
  std::unordered_multimap<std::string, const GraphNode*> operations_;  ///< Routes by "GET /invoices/{}".
  std::unordered_multimap<std::string, Incoming> targets_;
};

/// The edge that a reference of this kind makes.
std::string_view edge_type(RefKind kind);

/// The tables after all migrations as nodes, in the order of their names. Their path is that of their first migration.
std::vector<Unit> table_units(std::span<const Migration> migrations, std::vector<std::string>& paths);

/// "invoices.store -served_by-> App\...::store", one edge a line, sorted: for people and golden files.
std::string to_lines(const std::vector<GraphEdge>& edges);

}  // namespace footnote::code
