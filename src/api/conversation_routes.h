#pragma once

#include <vector>

#include "api/kb_conversation.h"
#include "api/route.h"

namespace footnote::api {

/// Conversations per page.
inline constexpr std::int64_t kChatsPageDefault = 50;
inline constexpr std::int64_t kChatsPageMax = 200;
inline constexpr std::size_t kChatSearchBytesMax = 200;

/// Users' conversations: list, read, rename, delete, export; resume and stop a running answer. docs/conversations.md.
std::vector<Route> make_conversation_routes(const ConversationServices& services);

}  // namespace footnote::api
