#pragma once

#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "fakes/faults.h"
#include "ports/webhook_store.h"

namespace footnote::fakes {

/// Webhooks in memory. Fulfils its port's contract except durability. Thread-safe. Borrows the clock.
class MemoryWebhookStore final : public WebhookStore {
 public:
  explicit MemoryWebhookStore(const Clock& clock) : clock_(clock) {}

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

  // For tests.
  Faults& due_faults() const { return due_faults_; }
  Faults& drop_faults() { return drop_faults_; }
  Faults& postpone_faults() { return postpone_faults_; }
  /// Number of queued messages, due or not.
  std::size_t waiting() const;

 private:
  const WebhookEndpoint* find(WorkspaceId workspace, WebhookId id) const FOOTNOTE_TSA(requires_capability(mutex_));

  const Clock& clock_;
  mutable Faults due_faults_;
  Faults drop_faults_;
  Faults postpone_faults_;

  mutable Mutex mutex_;
  std::vector<WebhookEndpoint> endpoints_ FOOTNOTE_TSA(guarded_by(mutex_));
  std::vector<WebhookDelivery> outbox_ FOOTNOTE_TSA(guarded_by(mutex_));
  std::int64_t last_id_ FOOTNOTE_TSA(guarded_by(mutex_)) = 0;
};

}  // namespace footnote::fakes
