#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "access/keys.h"
#include "answer/visitor_turn.h"
#include "api/live_streams.h"
#include "api/route.h"
#include "api/under_way.h"
#include "api/visitor_quota.h"
#include "api/visitor_token.h"
#include "ports/agent_store.h"
#include "ports/catalog_store.h"
#include "ports/chunk_store.h"
#include "ports/conversation_store.h"
#include "retrieve/asked_corpora.h"

namespace footnote::api {

/// Paths of this door: pages of every origin may knock, the door itself looks at whose they are.
inline constexpr std::string_view kWidgetPath = "/api/v1/widget/";

inline constexpr std::int64_t kInitsPerMinute = 60;     ///< Of one address and agent.
inline constexpr std::int64_t kMessagesPerMinute = 30;  ///< Of one visitor.
/// Of one address, whoever it says it is: a new visitor costs nothing.
inline constexpr std::int64_t kMessagesPerAddressAndMinute = 300;
/// Answers that are written or read again at once, for one visitor and for one address.
inline constexpr std::size_t kStreamsOfVisitorMax = 8;
inline constexpr std::size_t kStreamsOfAddressMax = 64;

/// Of one answer, from its question to its last event.
inline constexpr std::chrono::minutes kVisitorAnswerTimeout{2};

/// What the visitor's door remembers between requests. Thread-safe.
struct WidgetDoor {
  WidgetDoor(std::string_view secret, LiveStreams::Options options) : tokens(secret), streams(options) {}

  const VisitorTokens tokens;
  VisitorQuota inits{kInitsPerMinute};
  VisitorQuota messages{kMessagesPerMinute};
  VisitorQuota messages_of_address{kMessagesPerAddressAndMinute};
  UnderWay of_visitor{kStreamsOfVisitorMax};
  UnderWay of_address{kStreamsOfAddressMax};
  LiveStreams streams;
};

/// Everything is borrowed and outlives the routes.
struct WidgetServices {
  const answer::VisitorService& visitors;
  AgentStore& agents;
  ConversationStore& conversations;
  const CatalogStore& catalog;
  const ChunkReader& chunks;
  const retrieve::AskedCorpora& asked;
  access::Keys& keys;
  WidgetDoor& door;
  const Clock& clock;
  WorkspaceId home;  ///< Whose drafts the playground shows as long as there are no keys.
};

/// A site's visitors: init, messages as a stream or whole, taking a stream up again, stop, feedback. docs/visitor-chat.md.
std::vector<Route> make_widget_routes(const WidgetServices& services);

}  // namespace footnote::api
