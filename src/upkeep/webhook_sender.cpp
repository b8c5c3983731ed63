#include "upkeep/webhook_sender.h"

#include <algorithm>
#include <random>

#include "base/base64.h"
#include "base/contained.h"
#include "base/json.h"
#include "base/log.h"
#include "base/sha256.h"
#include "base/text.h"

namespace footnote::upkeep {

namespace {

constexpr std::size_t kAnswerBytesMax = 64 << 10;
constexpr double kSpread = 0.2;
constexpr std::chrono::milliseconds kPauses[] = {std::chrono::seconds{5}, std::chrono::minutes{5}, std::chrono::minutes{30},
                                                 std::chrono::hours{2},   std::chrono::hours{5},   std::chrono::hours{10},
                                                 std::chrono::hours{14},  std::chrono::hours{20}};
static_assert(std::size(kPauses) + 1 == kWebhookAttemptsMax);

http::ClientOptions client_options(http::Addresses addresses) {
  http::ClientOptions options;
  options.name = "webhooks";
  options.connect_timeout = kWebhookTimeout;
  options.silence_timeout = kWebhookTimeout;
  options.response_bytes_max = kAnswerBytesMax;
  options.idle_connections_max = 0;  // the name may resolve to another address by the next call
  options.addresses = addresses;
  return options;
}

std::string bytes_of_hex(std::string_view hex) {
  std::string out;
  for (std::size_t at = 0; at + 1 < hex.size(); at += 2) {
    out += static_cast<char>(hex_digit(hex[at]).value_or(0) * 16 + hex_digit(hex[at + 1]).value_or(0));
  }
  return out;
}

Counter& counter_of(Metrics& metrics, std::string_view result) {
  return metrics.counter("footnote_webhooks_total", "Messages to webhooks by what became of them", {{"result", std::string(result)}});
}

double draw_chance() {
  thread_local std::minstd_rand generator{std::random_device{}()};
  return std::uniform_real_distribution<double>(0, 1)(generator);
}

std::string text_of(const Outcome& outcome) {
  return std::visit([](const auto& kind) { return kind.text; }, outcome);
}

JsonObject turn_data(const Turn& turn) {
  JsonObject out{{"message_id", turn.id.value},
                 {"conversation_id", turn.conversation.value},
                 {"question", turn.question},
                 {"answer", text_of(turn.outcome)},
                 {"refused", std::holds_alternative<Refusal>(turn.outcome)},
                 {"latency_ms", turn.latency.count()}};
  if (!turn.visit) return out;
  out["agent_id"] = turn.visit->agent.value;
  out["visitor_id"] = turn.visit->visitor.value;
  out["page_url"] = turn.visit->page_url;
  out["curated"] = turn.visit->curated;
  out["confidence"] = turn.visit->confidence;
  out["low_confidence"] = turn.visit->low_confidence;
  return out;
}

JsonObject gap_data(const AgentGap& gap) {
  return {{"gap_id", gap.id.value},
          {"agent_id", gap.agent.value},
          {"question", gap.question},
          {"reason", to_string(gap.reason)},
          {"occurrences", gap.occurrences}};
}

std::int64_t number_of(std::string_view text) { return parse_whole_number(text).value_or(0); }

/// Maps kNotFound to "no data": a missing subject is not an error.
template <class T, class Render>
Result<std::optional<JsonObject>> rendered(const Result<T>& found, Render render) {
  if (found) return render(*found);
  if (found.error().code == ErrorCode::kNotFound) return std::nullopt;
  return std::unexpected(found.error());
}

Result<std::optional<JsonObject>> data_of(const CallContext& call, const ConversationStore& conversations, const CatalogStore& catalog,
                                          const WebhookNews& news) {
  if (news.type == kTurnCompleted) return rendered(conversations.turn(call, news.workspace, {news.subject}), turn_data);
  if (news.type == kGapOpened) return rendered(conversations.agent_gap(call, news.workspace, {number_of(news.subject)}), gap_data);
  const auto corpus = catalog.corpus(call, {number_of(news.subject)});
  if (corpus && corpus->workspace != news.workspace) return std::nullopt;
  return rendered(corpus, [](const Corpus& indexed) { return JsonObject{{"corpus", indexed.name}, {"generation", indexed.generation}}; });
}

}  // namespace

Result<std::string> sign_webhook(std::string_view secret, std::string_view message_id, std::int64_t timestamp, std::string_view body) {
  if (!secret.starts_with(kWebhookSecretPrefix)) return fail(ErrorCode::kInvalidArgument, "a webhook's secret starts with whsec_");
  FOOTNOTE_TRY(const std::string key, decode_base64(secret.substr(kWebhookSecretPrefix.size())));
  const std::string digest = bytes_of_hex(hmac_sha256_hex(key, fmt::format("{}.{}.{}", message_id, timestamp, body)));
  std::string out = "v1,";
  append_base64(out, digest);
  return out;
}

std::optional<std::chrono::milliseconds> webhook_pause(int failures, double chance) {
  if (failures < 1 || failures > static_cast<int>(std::size(kPauses))) return std::nullopt;
  const double factor = 1 - kSpread + 2 * kSpread * chance;
  const auto pause = kPauses[static_cast<std::size_t>(failures - 1)];
  return std::chrono::milliseconds{static_cast<std::int64_t>(static_cast<double>(pause.count()) * factor)};
}

WebhookSender::WebhookSender(Ports ports, Options options)
    : ports_(ports),
      options_(options),
      client_(client_options(options.addresses), ports.metrics),
      sent_(counter_of(ports.metrics, "sent")),
      vanished_(counter_of(ports.metrics, "gone")),
      failed_(counter_of(ports.metrics, "failed")),
      given_up_(counter_of(ports.metrics, "given_up")) {}

WebhookSender::~WebhookSender() {
  thread_.request_stop();
  for (std::jthread& sender : senders_) sender.request_stop();
  if (thread_.joinable()) thread_.join();
  senders_.clear();
}

void WebhookSender::start() {
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
  for (std::size_t i = 0; i < kWebhookSenders; ++i) senders_.emplace_back([this](const std::stop_token& stop) { run_sender(stop); });
}

void WebhookSender::run(const std::stop_token& stop) {
  const std::stop_callback wake(stop, [this] {
    MutexLock lock(mutex_);
    changed_.notify_all();
  });
  while (!stop.stop_requested()) {
    CallContext call;
    call.stop = stop;
    contained("app", "collecting webhook messages", [&] { collect(call); });
    const auto until = std::chrono::steady_clock::now() + options_.every;
    MutexLock lock(mutex_);
    while (!stop.stop_requested() && std::chrono::steady_clock::now() < until) changed_.wait_until(lock, until);
  }
}

void WebhookSender::run_sender(const std::stop_token& stop) {
  const std::stop_callback wake(stop, [this] {
    MutexLock lock(mutex_);
    changed_.notify_all();
  });
  CallContext call;
  call.stop = stop;
  while (!stop.stop_requested()) {
    std::optional<Batch> batch;
    {
      MutexLock lock(mutex_);
      while (!stop.stop_requested() && !(batch = take())) changed_.wait(lock);
    }
    if (batch) send(call, *batch);
  }
}

void WebhookSender::run_once(const CallContext& call) {
  collect(call);
  while (!call.stop.stop_requested()) {
    std::optional<Batch> batch;
    {
      MutexLock lock(mutex_);
      batch = take();
    }
    if (!batch) return;
    send(call, *batch);
  }
}

void WebhookSender::collect(const CallContext& call) {
  // Copied before the outbox is read: otherwise an endpoint whose batch ends in between would get the same messages twice.
  std::set<WebhookId> lined_up;
  {
    MutexLock lock(mutex_);
    lined_up = lined_up_;
  }
  const auto due = ports_.webhooks.due(call, ports_.clock.now(), kWebhookBatchMax);
  if (!due) {
    if (due.error().code != ErrorCode::kCancelled)
      log(LogLevel::kWarn, "app", "could not read the webhook outbox", {{"error", due.error().message}});
    return;
  }
  std::map<WebhookId, Batch> batches;
  std::vector<WebhookId> order;  // by the time of the first message
  for (const WebhookDelivery& delivery : *due) {
    const auto [batch, is_new] = batches.try_emplace(delivery.endpoint, Batch{delivery.endpoint, delivery.news.workspace, {}});
    if (is_new) order.push_back(delivery.endpoint);
    batch->second.deliveries.push_back(delivery);
  }
  MutexLock lock(mutex_);
  for (const WebhookId endpoint : order) {
    if (waiting_.size() >= kWebhookEndpointsWaitingMax) break;
    if (lined_up.contains(endpoint)) continue;
    lined_up_.insert(endpoint);
    waiting_.push_back(std::move(batches.at(endpoint)));
  }
  changed_.notify_all();
}

std::optional<WebhookSender::Batch> WebhookSender::take() {
  for (auto batch = waiting_.begin(); batch != waiting_.end(); ++batch) {
    std::size_t& served = served_[batch->workspace];
    if (served >= kWebhookSendersOfWorkspaceMax) continue;
    ++served;
    Batch out = std::move(*batch);
    waiting_.erase(batch);
    return out;
  }
  return std::nullopt;
}

void WebhookSender::send(const CallContext& call, const Batch& batch) {
  contained("app", "sending webhook messages", [&] {
    for (const WebhookDelivery& delivery : batch.deliveries) {
      if (call.stop.stop_requested() || deliver(call, delivery) == Sent::kFailed) break;
    }
  });
  MutexLock lock(mutex_);
  lined_up_.erase(batch.endpoint);
  if (const auto served = served_.find(batch.workspace); --served->second == 0) served_.erase(served);
  changed_.notify_all();
}

WebhookSender::Sent WebhookSender::deliver(const CallContext& call, const WebhookDelivery& delivery) {
  const auto body = body_of(call, delivery);
  if (!body) {
    note_failure(call, delivery, body.error());
    return Sent::kFailed;
  }
  if (*body) {
    const auto posted = post(call, delivery, **body);
    if (!posted && posted.error().code == ErrorCode::kCancelled) return Sent::kFailed;
    if (!posted) {
      note_failure(call, delivery, posted.error());
      return Sent::kFailed;
    }
  }
  (*body ? sent_ : vanished_).add();
  // If dropping fails, the message is sent again; the receiver recognises it by its id.
  const auto dropped = ports_.webhooks.drop(call, delivery.id);
  if (!dropped)
    log(LogLevel::kWarn, "app", "a webhook message was delivered, but not removed from the outbox; it will be sent again",
        {{"error", dropped.error().message}});
  return Sent::kArrived;
}

Result<std::optional<std::string>> WebhookSender::body_of(const CallContext& call, const WebhookDelivery& delivery) const {
  FOOTNOTE_TRY(auto data, data_of(call, ports_.conversations, ports_.catalog, delivery.news));
  if (!data) return std::nullopt;
  return to_text(
      JsonObject{{"type", delivery.news.type}, {"timestamp", to_rfc3339(delivery.news.happened_at)}, {"data", *std::move(data)}});
}

Result<void> WebhookSender::post(const CallContext& call, const WebhookDelivery& delivery, std::string body) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(ports_.clock.now().time_since_epoch()).count();
  FOOTNOTE_TRY(const std::string signature, sign_webhook(delivery.secret, delivery.message_id, seconds, body));
  const http::ClientRequest request{.method = http::Method::kPost,
                                    .url = delivery.url,
                                    .headers = {{"content-type", "application/json"},
                                                {"webhook-id", delivery.message_id},
                                                {"webhook-timestamp", std::to_string(seconds)},
                                                {"webhook-signature", signature}},
                                    .body = std::move(body)};
  FOOTNOTE_TRY(const http::Response response, client_.fetch(call.narrowed(kWebhookTimeout), request));
  if (response.status >= 200 && response.status < 300) return {};
  return fail(ErrorCode::kUnavailable, "answered with status {}", response.status);
}

void WebhookSender::note_failure(const CallContext& call, const WebhookDelivery& delivery, const Error& error) {
  const auto pause = webhook_pause(delivery.attempts + 1, draw_chance());
  (pause ? failed_ : given_up_).add();
  const auto next = pause ? std::optional(ports_.clock.now() + *pause) : std::nullopt;
  const auto noted = ports_.webhooks.postpone(call, delivery.id, error.message, next);
  if (!noted) log(LogLevel::kWarn, "app", "could not record a failed webhook delivery", {{"error", noted.error().message}});
}

}  // namespace footnote::upkeep
