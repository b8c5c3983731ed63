#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "domain/ids.h"

namespace footnote {

/// Events reported to webhooks.
inline constexpr std::string_view kTurnCompleted = "turn.completed";
inline constexpr std::string_view kGapOpened = "gap.opened";
inline constexpr std::string_view kSourceIndexed = "source.indexed";
inline constexpr std::string_view kWebhookEvents[] = {kTurnCompleted, kGapOpened, kSourceIndexed};

inline constexpr std::size_t kWebhookEndpointsMax = 20;     ///< Per workspace.
inline constexpr std::size_t kWebhookMessagesMax = 10'000;  ///< Queued or given-up messages per endpoint; beyond it new ones are dropped.
inline constexpr std::size_t kWebhookSecretBytes = 24;      ///< Random bytes, before base64.
inline constexpr std::string_view kWebhookSecretPrefix = "whsec_";

/// A URL that is notified of events in a workspace.
struct WebhookEndpoint {
  WebhookId id;
  WorkspaceId workspace;
  std::string url;
  std::string secret;  ///< "whsec_" and base64.
  std::vector<std::string> events;
  bool enabled = true;
  UtcTime created_at;
};

/// An event, with only the id of its subject: the body is rendered when it is sent, so that erased data is not disclosed.
struct WebhookNews {
  WorkspaceId workspace;
  std::string type;     ///< One of kWebhookEvents.
  std::string subject;  ///< Id of a turn, a gap or a corpus.
  UtcTime happened_at;
};

/// A message to one endpoint.
struct WebhookDelivery {
  DeliveryId id;
  WebhookId endpoint;
  std::string url;
  std::string secret;
  std::string message_id;  ///< "msg_...": the same in every attempt.
  WebhookNews news;
  int attempts = 0;
  UtcTime next_at;
  std::optional<UtcTime> dead_at = {};  ///< When it was given up.
  std::string last_error = {};
};

/// kInvalidArgument names the field: a URL that is not http or https, no events, or an unknown event.
Result<void> check_webhook(const WebhookEndpoint& endpoint);

}  // namespace footnote
