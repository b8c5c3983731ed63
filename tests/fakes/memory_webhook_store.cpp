#include "fakes/memory_webhook_store.h"

#include <algorithm>
#include <map>

namespace footnote::fakes {

const WebhookEndpoint* MemoryWebhookStore::find(WorkspaceId workspace, WebhookId id) const {
  const auto found = std::ranges::find_if(endpoints_, [&](const auto& other) { return other.id == id && other.workspace == workspace; });
  return found == endpoints_.end() ? nullptr : &*found;
}

Result<std::vector<WebhookEndpoint>> MemoryWebhookStore::endpoints(const CallContext&, WorkspaceId workspace) const {
  MutexLock lock(mutex_);
  std::vector<WebhookEndpoint> out;
  std::ranges::copy_if(endpoints_, std::back_inserter(out), [&](const auto& endpoint) { return endpoint.workspace == workspace; });
  return out;
}

Result<WebhookEndpoint> MemoryWebhookStore::add_endpoint(const CallContext& call, const WebhookEndpoint& endpoint) {
  FOOTNOTE_CHECK(call.check());
  FOOTNOTE_CHECK(check_webhook(endpoint));
  MutexLock lock(mutex_);
  const auto there = std::ranges::count(endpoints_, endpoint.workspace, &WebhookEndpoint::workspace);
  if (there >= static_cast<std::ptrdiff_t>(kWebhookEndpointsMax)) return fail(ErrorCode::kResourceExhausted, "too many webhooks");
  endpoints_.push_back(endpoint);
  endpoints_.back().id = {++last_id_};
  endpoints_.back().created_at = clock_.now();
  return endpoints_.back();
}

Result<WebhookEndpoint> MemoryWebhookStore::save_endpoint(const CallContext& call, const WebhookEndpoint& endpoint) {
  FOOTNOTE_CHECK(call.check());
  FOOTNOTE_CHECK(check_webhook(endpoint));
  MutexLock lock(mutex_);
  const WebhookEndpoint* found = find(endpoint.workspace, endpoint.id);
  if (found == nullptr) return fail(ErrorCode::kNotFound, "there is no webhook {}", endpoint.id.value);
  WebhookEndpoint& kept = endpoints_[static_cast<std::size_t>(found - endpoints_.data())];
  kept.url = endpoint.url;
  kept.events = endpoint.events;
  kept.enabled = endpoint.enabled;
  return kept;
}

Result<void> MemoryWebhookStore::remove_endpoint(const CallContext& call, WorkspaceId workspace, WebhookId id) {
  FOOTNOTE_CHECK(call.check());
  MutexLock lock(mutex_);
  if (find(workspace, id) == nullptr) return fail(ErrorCode::kNotFound, "there is no webhook {}", id.value);
  std::erase_if(endpoints_, [&](const WebhookEndpoint& endpoint) { return endpoint.id == id; });
  std::erase_if(outbox_, [&](const WebhookDelivery& delivery) { return delivery.endpoint == id; });
  return {};
}

Result<void> MemoryWebhookStore::enqueue(const CallContext& call, const WebhookNews& news) {
  FOOTNOTE_CHECK(call.check());
  MutexLock lock(mutex_);
  for (const WebhookEndpoint& endpoint : endpoints_) {
    const bool wanted = endpoint.workspace == news.workspace && endpoint.enabled && std::ranges::count(endpoint.events, news.type) > 0;
    const auto waiting = std::ranges::count(outbox_, endpoint.id, &WebhookDelivery::endpoint);
    if (!wanted || waiting >= static_cast<std::ptrdiff_t>(kWebhookMessagesMax)) continue;
    outbox_.push_back({.id = {++last_id_},
                       .endpoint = endpoint.id,
                       .url = {},
                       .secret = {},
                       .message_id = "msg_" + random_base62(24),
                       .news = news,
                       .next_at = news.happened_at});
  }
  return {};
}

Result<std::vector<WebhookDelivery>> MemoryWebhookStore::due(const CallContext& call, UtcTime now, std::size_t per_endpoint) const {
  FOOTNOTE_CHECK(call.check());
  FOOTNOTE_CHECK(due_faults_.next());
  MutexLock lock(mutex_);
  std::vector<WebhookDelivery> out;
  for (const WebhookDelivery& delivery : outbox_) {
    const WebhookEndpoint* endpoint = find(delivery.news.workspace, delivery.endpoint);
    if (delivery.dead_at || delivery.next_at > now || endpoint == nullptr || !endpoint->enabled) continue;
    out.push_back(delivery);
    out.back().url = endpoint->url;
    out.back().secret = endpoint->secret;
  }
  std::ranges::sort(out, {}, [](const WebhookDelivery& delivery) { return std::pair(delivery.next_at, delivery.id); });
  std::map<WebhookId, std::size_t> taken;
  std::erase_if(out, [&](const WebhookDelivery& delivery) { return ++taken[delivery.endpoint] > per_endpoint; });
  return out;
}

Result<void> MemoryWebhookStore::drop(const CallContext& call, DeliveryId id) {
  FOOTNOTE_CHECK(call.check());
  FOOTNOTE_CHECK(drop_faults_.next());
  MutexLock lock(mutex_);
  std::erase_if(outbox_, [&](const WebhookDelivery& delivery) { return delivery.id == id; });
  return {};
}

Result<void> MemoryWebhookStore::postpone(const CallContext& call, DeliveryId id, std::string_view error, std::optional<UtcTime> next_at) {
  FOOTNOTE_CHECK(call.check());
  FOOTNOTE_CHECK(postpone_faults_.next());
  MutexLock lock(mutex_);
  const auto found = std::ranges::find(outbox_, id, &WebhookDelivery::id);
  if (found == outbox_.end()) return {};
  ++found->attempts;
  found->last_error = error;
  found->next_at = next_at.value_or(found->next_at);
  found->dead_at = next_at ? std::nullopt : std::optional(clock_.now());
  return {};
}

Result<std::vector<WebhookDelivery>> MemoryWebhookStore::dead(const CallContext&, WorkspaceId workspace, std::size_t limit) const {
  MutexLock lock(mutex_);
  std::vector<WebhookDelivery> out;
  for (auto delivery = outbox_.rbegin(); delivery != outbox_.rend() && out.size() < limit; ++delivery) {
    if (!delivery->dead_at || delivery->news.workspace != workspace) continue;
    out.push_back(*delivery);
    out.back().url = find(workspace, delivery->endpoint)->url;
  }
  return out;
}

Result<void> MemoryWebhookStore::revive(const CallContext& call, WorkspaceId workspace, DeliveryId id) {
  FOOTNOTE_CHECK(call.check());
  MutexLock lock(mutex_);
  const auto found = std::ranges::find(outbox_, id, &WebhookDelivery::id);
  if (found == outbox_.end() || found->news.workspace != workspace || !found->dead_at) {
    return fail(ErrorCode::kNotFound, "no message {} was given up", id.value);
  }
  found->dead_at = std::nullopt;
  found->attempts = 0;
  found->next_at = clock_.now();
  return {};
}

std::size_t MemoryWebhookStore::waiting() const {
  MutexLock lock(mutex_);
  return static_cast<std::size_t>(std::ranges::count_if(outbox_, [](const auto& delivery) { return !delivery.dead_at; }));
}

}  // namespace footnote::fakes
