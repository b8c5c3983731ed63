#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "access/keys.h"
#include "answer/visitor_turn.h"
#include "api/concurrency_limit.h"
#include "api/live_streams.h"
#include "api/route.h"
#include "api/visitor_quota.h"
#include "api/visitor_token.h"
#include "ports/agent_store.h"
#include "ports/catalog_store.h"
#include "ports/chunk_store.h"
#include "ports/conversation_store.h"
#include "retrieve/asked_corpora.h"

namespace footnote::api {

/// Path prefix of the visitor API. Pages of every origin may call it; the API itself checks the origin.
inline constexpr std::string_view kWidgetPath = "/api/v1/widget/";

inline constexpr std::int64_t kInitsPerMinute = 60;     ///< Limit per address and agent.
inline constexpr std::int64_t kMessagesPerMinute = 30;  ///< Limit per visitor.
/// Limit per address over all its visitors: anyone can create new visitors.
inline constexpr std::int64_t kMessagesPerAddressAndMinute = 300;
/// Answers being written or resumed at once, per visitor and per address.
inline constexpr std::size_t kStreamsOfVisitorMax = 8;
inline constexpr std::size_t kStreamsOfAddressMax = 64;

/// Timeout of one answer, from its question to its last event.
inline constexpr std::chrono::minutes kVisitorAnswerTimeout{2};

/// State of the visitor API between requests. Thread-safe.
struct WidgetDoor {
  WidgetDoor(std::string_view secret, LiveStreams::Options options) : tokens(secret), streams(options) {}

  const VisitorTokens tokens;
  VisitorQuota inits{kInitsPerMinute};
  VisitorQuota messages{kMessagesPerMinute};
  VisitorQuota messages_of_address{kMessagesPerAddressAndMinute};
  ConcurrencyLimit of_visitor{kStreamsOfVisitorMax};
  ConcurrencyLimit of_address{kStreamsOfAddressMax};
  LiveStreams streams;
};

/// Dependencies of these routes. Everything is borrowed and outlives the routes.
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
  WorkspaceId home;  ///< The workspace whose drafts the playground shows as long as no keys exist.
};

/// The API for a site's visitors: init, messages streamed or whole, resume, stop, feedback. docs/visitor-chat.md.
std::vector<Route> make_widget_routes(const WidgetServices& services);

}  // namespace footnote::api
