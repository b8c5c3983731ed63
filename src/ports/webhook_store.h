#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "base/call_context.h"
#include "domain/webhook.h"

namespace footnote {

/// Webhook endpoints and their queued messages. Thread-safe; writes are durable when they return. Objects of other workspaces return
/// kNotFound, exactly like objects that never existed.
class WebhookStore {
 public:
  virtual ~WebhookStore() = default;
  /// Ordered by id.
  virtual Result<std::vector<WebhookEndpoint>> endpoints(const CallContext& call, WorkspaceId workspace) const = 0;
  /// kInvalidArgument: see check_webhook. kResourceExhausted: beyond kWebhookEndpointsMax.
  virtual Result<WebhookEndpoint> add_endpoint(const CallContext& call, const WebhookEndpoint& endpoint) = 0;
  /// Replaces url, events and enabled; keeps the secret.
  virtual Result<WebhookEndpoint> save_endpoint(const CallContext& call, const WebhookEndpoint& endpoint) = 0;
  /// Also removes its queued messages.
  virtual Result<void> remove_endpoint(const CallContext& call, WorkspaceId workspace, WebhookId id) = 0;

  /// Queues a message, due at once, for each enabled endpoint of the workspace that subscribes to this event and has room
  /// (kWebhookMessagesMax).
  virtual Result<void> enqueue(const CallContext& call, const WebhookNews& news) = 0;
  /// Due messages ordered by time; at most `per_endpoint` for each endpoint, so that no endpoint waits behind another's backlog.
  virtual Result<std::vector<WebhookDelivery>> due(const CallContext& call, UtcTime now, std::size_t per_endpoint) const = 0;
  /// The message was delivered or is obsolete.
  virtual Result<void> drop(const CallContext& call, DeliveryId id) = 0;
  /// An attempt failed; retry at `next_at`, or give up if nullopt. Ignores a message that no longer exists.
  virtual Result<void> postpone(const CallContext& call, DeliveryId id, std::string_view error, std::optional<UtcTime> next_at) = 0;

  /// Messages that were given up, newest first.
  virtual Result<std::vector<WebhookDelivery>> dead(const CallContext& call, WorkspaceId workspace, std::size_t limit) const = 0;
  /// Makes a given-up message due at once, with all attempts available again. kNotFound: no such given-up message.
  virtual Result<void> revive(const CallContext& call, WorkspaceId workspace, DeliveryId id) = 0;
};

}  // namespace footnote
