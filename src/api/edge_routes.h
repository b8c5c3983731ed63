#pragma once

#include <vector>

#include "api/kb_conversation.h"
#include "api/route.h"

namespace footnote::api {

/// Edges of one request.
inline constexpr std::size_t kEdgesAtOnceMax = 100;

/// Relations between documents that clients add and remove. docs/knowledge-graph.md.
std::vector<Route> make_edge_routes(const ConversationServices& services);

}  // namespace footnote::api
