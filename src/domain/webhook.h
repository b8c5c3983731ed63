#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "domain/ids.h"

namespace footnote {

/// What webhooks are told of.
inline constexpr std::string_view kTurnCompleted = "turn.completed";
inline constexpr std::string_view kGapOpened = "gap.opened";
inline constexpr std::string_view kSourceIndexed = "source.indexed";
inline constexpr std::string_view kWebhookEvents[] = {kTurnCompleted, kGapOpened, kSourceIndexed};

inline constexpr std::size_t kWebhookEndpointsMax = 20;     ///< Of a workspace.
inline constexpr std::size_t kWebhookMessagesMax = 10'000;  ///< That wait or were given up, of an endpoint; past it new ones are not kept.
inline constexpr std::size_t kWebhookSecretBytes = 24;      ///< Random ones, before base64.
inline constexpr std::string_view kWebhookSecretPrefix = "whsec_";

/// An address that is told what happens in a workspace.
struct WebhookEndpoint {
  WebhookId id;
  WorkspaceId workspace;
  std::string url;
  std::string secret;  ///< "whsec_" and base64.
  std::vector<std::string> events;
  bool enabled = true;
  UtcTime created_at;
};

/// Something that happened, by the id of what it is about: the body is made when it is sent, so that what was erased is not told.
struct WebhookNews {
  WorkspaceId workspace;
  std::string type;     ///< One of kWebhookEvents.
  std::string subject;  ///< A turn's or a gap's id, a corpus's id.
  UtcTime happened_at;
};

/// News on its way to one endpoint.
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

/// kInvalidArgument names the field: an address that is no http or https URL, no events, an unknown one.
Result<void> check_webhook(const WebhookEndpoint& endpoint);

}  // namespace footnote
