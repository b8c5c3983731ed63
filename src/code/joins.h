#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "code/graph.h"

namespace footnote::code {

/// A question that the graph answers: which joins, from which node, and what they give, in the order of the walk.
struct Join {
  std::string strategy;  ///< "route_walk", "table_migrations", "file_changes".
  std::string subject;   ///< The route, table or class as the project names it.
  std::vector<const GraphNode*> nodes;
  std::vector<GraphEdge> edges;
};

/// Resolves the questions that coding agents ask most, before any search:
///   which controller serves route R, and which model and table does it touch
///   which migrations created or altered table T
///   what did previous runs change about C
/// nullopt if the question is none of them, or names nothing that the project has.
std::optional<Join> join_question(const Graph& graph, std::string_view question);

/// The same, asked by filter.
std::optional<Join> join_route(const Graph& graph, std::string_view route_name);
std::optional<Join> join_table(const Graph& graph, std::string_view table);
std::optional<Join> join_changes(const Graph& graph, std::string_view name);

/// Identifiers in a question: what is written in backticks or quotes, and words that have capitals inside, dots, "::", "\", "_" or "/".
std::vector<std::string> identifiers_in(std::string_view question);

}  // namespace footnote::code
