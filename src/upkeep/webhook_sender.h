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

/// "v1," and the signature of a message (Standard Webhooks): base64 of HMAC-SHA-256 over "id.timestamp.body" under the secret's bytes.
/// kInvalidArgument: the secret is not "whsec_" and base64.
Result<std::string> sign_webhook(std::string_view secret, std::string_view message_id, std::int64_t timestamp, std::string_view body);

/// When an attempt is followed by another: after this many failures, the pause before the next; none: it is given up. `chance` of 0..1
/// spreads the pauses over +-20 %, so that messages that failed together do not come back together.
std::optional<std::chrono::milliseconds> webhook_pause(int failures, double chance);
/// Attempts in all.
inline constexpr int kWebhookAttemptsMax = 9;
/// The longest that one attempt takes.
inline constexpr std::chrono::seconds kWebhookTimeout{5};
/// Of one endpoint, in one round.
inline constexpr std::size_t kWebhookBatchMax = 16;
/// Endpoints that are called at the same time, and those of one workspace: whoever does not answer delays its own workspace alone.
inline constexpr std::size_t kWebhookSenders = 16;
inline constexpr std::size_t kWebhookSendersOfWorkspaceMax = 2;
/// Endpoints whose messages wait for a sender; others are found in a later round.
inline constexpr std::size_t kWebhookEndpointsWaitingMax = 1'024;

/// Sends what waits in the outbox, in the background. Nothing waits for it: turns are answered and stored whether or not anybody listens.
/// Messages to one endpoint go one after another; endpoints are called at the same time, with a bounded share for each workspace.
/// Metrics: footnote_webhooks_total{result}.
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
    /// kPublic: endpoints are addresses that others chose.
    http::Addresses addresses = http::Addresses::kPublic;
    std::chrono::milliseconds every{1'000};  ///< How often the outbox is looked at.
  };

  /// Everything is borrowed. Does nothing by itself until start().
  WebhookSender(Ports ports, Options options);
  /// Stops; what was under way is sent again at the next start.
  ~WebhookSender();

  void start();
  /// Sends what is due, once; after a failure the endpoint's others wait for the next round. For tests, and the thread's own work.
  void run_once(const CallContext& call);

 private:
  enum class Sent { kArrived, kFailed };
  /// What is due for one endpoint.
  struct Batch {
    WebhookId endpoint;
    WorkspaceId workspace;
    std::vector<WebhookDelivery> deliveries;
  };

  void run(const std::stop_token& stop);
  void run_sender(const std::stop_token& stop);
  /// Lines up what is due for endpoints that are not being served.
  void collect(const CallContext& call);
  /// The next batch whose workspace has a share left.
  std::optional<Batch> take() FOOTNOTE_TSA(requires_capability(mutex_));
  /// Sends a batch that was taken, up to its first failure, and gives its share back.
  void send(const CallContext& call, const Batch& batch);
  Sent deliver(const CallContext& call, const WebhookDelivery& delivery);
  /// None: what it tells of is gone.
  Result<std::optional<std::string>> body_of(const CallContext& call, const WebhookDelivery& delivery) const;
  Result<void> post(const CallContext& call, const WebhookDelivery& delivery, std::string body);
  void note_failure(const CallContext& call, const WebhookDelivery& delivery, const Error& error);

  const Ports ports_;
  const Options options_;
  http::Client client_;
  Counter& sent_;
  Counter& gone_;
  Counter& failed_;
  Counter& given_up_;
  Mutex mutex_;
  CondVar changed_;
  std::deque<Batch> waiting_ FOOTNOTE_TSA(guarded_by(mutex_));
  std::set<WebhookId> lined_up_ FOOTNOTE_TSA(guarded_by(mutex_));               // Waiting or being served.
  std::map<WorkspaceId, std::size_t> served_ FOOTNOTE_TSA(guarded_by(mutex_));  // Batches under way.
  std::jthread thread_;
  std::vector<std::jthread> senders_;  ///< Last, with the thread: they use the rest.
};

}  // namespace footnote::upkeep
