#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "base/call_context.h"
#include "domain/webhook.h"

namespace footnote {

/// Endpoints, and the messages that wait for them. Thread-safe; writes are durable when they return. What belongs to another workspace is
/// kNotFound, in the same words as what never was.
class WebhookStore {
 public:
  virtual ~WebhookStore() = default;
  /// By id.
  virtual Result<std::vector<WebhookEndpoint>> endpoints(const CallContext& call, WorkspaceId workspace) const = 0;
  /// kInvalidArgument: see check_webhook. kResourceExhausted: past kWebhookEndpointsMax.
  virtual Result<WebhookEndpoint> add_endpoint(const CallContext& call, const WebhookEndpoint& endpoint) = 0;
  /// Replaces url, events and enabled; the secret stays.
  virtual Result<WebhookEndpoint> save_endpoint(const CallContext& call, const WebhookEndpoint& endpoint) = 0;
  /// With what waits for it.
  virtual Result<void> remove_endpoint(const CallContext& call, WorkspaceId workspace, WebhookId id) = 0;

  /// One message for each enabled endpoint of the workspace that wants such news and has room (kWebhookMessagesMax); due at once.
  virtual Result<void> enqueue(const CallContext& call, const WebhookNews& news) = 0;
  /// What is due, in the order of its time; of each endpoint at most `per_endpoint`, so that none waits behind another's backlog.
  virtual Result<std::vector<WebhookDelivery>> due(const CallContext& call, UtcTime now, std::size_t per_endpoint) const = 0;
  /// It arrived, or there is nothing to tell any more.
  virtual Result<void> drop(const CallContext& call, DeliveryId id) = 0;
  /// The attempt failed; the next one is at `next_at`, or without that it is given up. One that is gone meanwhile is passed over.
  virtual Result<void> postpone(const CallContext& call, DeliveryId id, std::string_view error, std::optional<UtcTime> next_at) = 0;

  /// What was given up, newest first.
  virtual Result<std::vector<WebhookDelivery>> dead(const CallContext& call, WorkspaceId workspace, std::size_t limit) const = 0;
  /// Due at once, with all attempts before it. kNotFound: no such message was given up.
  virtual Result<void> revive(const CallContext& call, WorkspaceId workspace, DeliveryId id) = 0;
};

}  // namespace footnote
