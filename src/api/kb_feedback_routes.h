#pragma once

#include <vector>

#include "api/kb_conversation.h"
#include "api/route.h"

namespace footnote::api {

inline constexpr std::size_t kGapsPageDefault = 50;
inline constexpr std::size_t kGapsPageMax = 500;
inline constexpr std::size_t kEvalCasesMax = 10'000;

/// What people say about answers: ratings, labelled eval cases, and gaps in the corpora. docs/conversations.md.
std::vector<Route> make_kb_feedback_routes(const ConversationServices& services);

}  // namespace footnote::api
