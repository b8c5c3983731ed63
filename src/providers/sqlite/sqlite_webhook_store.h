#pragma once

#include "ports/webhook_store.h"
#include "providers/sqlite/sqlite_store.h"

namespace footnote {

/// Implements ports/webhook_store.h (WebhookStore) over the embedded database. Secrets are stored encrypted, see SqliteStore::secrets(). A
/// secret that the key file cannot decrypt reads as an empty text, and nothing is signed with it.
class SqliteWebhookStore final : public WebhookStore {
 public:
  explicit SqliteWebhookStore(SqliteStore& store) : store_(store) {}

  Result<std::vector<WebhookEndpoint>> endpoints(const CallContext& call, WorkspaceId workspace) const override;
  Result<WebhookEndpoint> add_endpoint(const CallContext& call, const WebhookEndpoint& endpoint) override;
  Result<WebhookEndpoint> save_endpoint(const CallContext& call, const WebhookEndpoint& endpoint) override;
  Result<void> remove_endpoint(const CallContext& call, WorkspaceId workspace, WebhookId id) override;
  Result<void> enqueue(const CallContext& call, const WebhookNews& news) override;
  Result<std::vector<WebhookDelivery>> due(const CallContext& call, UtcTime now, std::size_t per_endpoint) const override;
  Result<void> drop(const CallContext& call, DeliveryId id) override;
  Result<void> postpone(const CallContext& call, DeliveryId id, std::string_view error, std::optional<UtcTime> next_at) override;
  Result<std::vector<WebhookDelivery>> dead(const CallContext& call, WorkspaceId workspace, std::size_t limit) const override;
  Result<void> revive(const CallContext& call, WorkspaceId workspace, DeliveryId id) override;

 private:
  Result<std::vector<WebhookDelivery>> with_secrets(Result<std::vector<WebhookDelivery>> deliveries) const;

  SqliteStore& store_;
};

}  // namespace footnote
