#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/metrics.h"
#include "base/mutex.h"
#include "http/client.h"
#include "ports/catalog_store.h"
#include "ports/conversation_store.h"
#include "ports/webhook_store.h"

namespace footnote::upkeep {

/// The signature of a message (Standard Webhooks): "v1," and base64 of HMAC-SHA-256 over "id.timestamp.body" with the secret's bytes.
/// kInvalidArgument: the secret is not "whsec_" and base64.
Result<std::string> sign_webhook(std::string_view secret, std::string_view message_id, std::int64_t timestamp, std::string_view body);

/// The pause before the next attempt after this many failures; none: give up. `chance` in 0..1 adds jitter of +-20 %, so that messages that
/// failed together are not retried together.
std::optional<std::chrono::milliseconds> webhook_pause(int failures, double chance);
/// Total attempts, including the first.
inline constexpr int kWebhookAttemptsMax = 9;
/// Timeout of one attempt.
inline constexpr std::chrono::seconds kWebhookTimeout{5};
/// Messages per endpoint and round.
inline constexpr std::size_t kWebhookBatchMax = 16;
/// Endpoints called in parallel, in total and per workspace: an unresponsive endpoint delays only its own workspace.
inline constexpr std::size_t kWebhookSenders = 16;
inline constexpr std::size_t kWebhookSendersOfWorkspaceMax = 2;
/// Bound on the endpoints queued for a sender; the rest are found in a later round.
inline constexpr std::size_t kWebhookEndpointsWaitingMax = 1'024;

/// Delivers the messages of the outbox in the background. Nothing waits for it: turns are answered and stored regardless. Messages to one
/// endpoint are sent in sequence; endpoints are called in parallel, with a bounded share per workspace. Metrics:
/// footnote_webhooks_total{result}.
class WebhookSender {
 public:
  struct Ports {
    WebhookStore& webhooks;
    const ConversationStore& conversations;
    const CatalogStore& catalog;
    const Clock& clock;
    Metrics& metrics;
  };
  struct Options {
    /// kPublic: endpoint addresses are chosen by others.
    http::Addresses addresses = http::Addresses::kPublic;
    std::chrono::milliseconds every{1'000};  ///< Polling interval of the outbox.
  };

  /// Everything is borrowed. Idle until start().
  WebhookSender(Ports ports, Options options);
  /// Stops; interrupted deliveries are repeated at the next start.
  ~WebhookSender();

  void start();
  /// Sends what is due, once; after a failure, the endpoint's other messages wait for the next round. Used by the thread and by tests.
  void run_once(const CallContext& call);

 private:
  enum class Sent { kArrived, kFailed };
  /// The messages due for one endpoint.
  struct Batch {
    WebhookId endpoint;
    WorkspaceId workspace;
    std::vector<WebhookDelivery> deliveries;
  };

  void run(const std::stop_token& stop);
  void run_sender(const std::stop_token& stop);
  /// Queues the messages that are due, for endpoints that are neither queued nor being served.
  void collect(const CallContext& call);
  /// The next batch whose workspace is below its limit.
  std::optional<Batch> take() FOOTNOTE_TSA(requires_capability(mutex_));
  /// Sends a batch up to its first failure, then releases the workspace's slot.
  void send(const CallContext& call, const Batch& batch);
  Sent deliver(const CallContext& call, const WebhookDelivery& delivery);
  /// nullopt: the subject of the message no longer exists.
  Result<std::optional<std::string>> body_of(const CallContext& call, const WebhookDelivery& delivery) const;
  Result<void> post(const CallContext& call, const WebhookDelivery& delivery, std::string body);
  void note_failure(const CallContext& call, const WebhookDelivery& delivery, const Error& error);

  const Ports ports_;
  const Options options_;
  http::Client client_;
  Counter& sent_;
  Counter& vanished_;
  Counter& failed_;
  Counter& given_up_;
  Mutex mutex_;
  CondVar changed_;
  std::deque<Batch> waiting_ FOOTNOTE_TSA(guarded_by(mutex_));
  std::set<WebhookId> lined_up_ FOOTNOTE_TSA(guarded_by(mutex_));               // queued or being served
  std::map<WorkspaceId, std::size_t> served_ FOOTNOTE_TSA(guarded_by(mutex_));  // batches in progress
  std::jthread thread_;
  std::vector<std::jthread> senders_;  ///< Last members, because these threads use all others.
};

}  // namespace footnote::upkeep
