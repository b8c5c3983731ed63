#include "upkeep/webhook_sender.h"

#include <gmock/gmock.h>

#include <set>

#include "base/log.h"
#include "fakes/memory_store.h"
#include "fakes/memory_webhook_store.h"
#include "http/server.h"

namespace footnote::upkeep {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::string_view kSecret = "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3";

TEST(WebhookSignature, IsThatOfStandardWebhooks) {
  EXPECT_EQ(sign_webhook(kSecret, "msg_1", 1'700'000'000, R"({"a":1})").value(), "v1,WUgAXU8H0NQ1/7M+TtMwKma2b74a3/TCgekiM3YUdN8=");
  EXPECT_NE(sign_webhook(kSecret, "msg_2", 1'700'000'000, R"({"a":1})").value(),
            sign_webhook(kSecret, "msg_1", 1'700'000'000, R"({"a":1})").value());
  EXPECT_EQ(sign_webhook("MDEy", "msg_1", 0, "").error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(sign_webhook("whsec_!", "msg_1", 0, "").error().code, ErrorCode::kInvalidArgument);
}

TEST(WebhookPauses, GrowAndEnd) {
  std::chrono::milliseconds before{0};
  for (int failures = 1; failures < kWebhookAttemptsMax; ++failures) {
    const auto least = webhook_pause(failures, 0), most = webhook_pause(failures, 1);
    ASSERT_TRUE(least && most) << failures;
    EXPECT_GT(*least, before) << failures;
    EXPECT_NEAR(static_cast<double>(most->count()) / static_cast<double>(least->count()), 1.5, 0.001);
    before = *least;
  }
  EXPECT_EQ(webhook_pause(kWebhookAttemptsMax, 0.5), std::nullopt);
  EXPECT_EQ(webhook_pause(1, 0.5), std::chrono::seconds{5});
}

/// A receiver on loopback that answers as configured and records what it received.
class Receiver {
 public:
  Receiver() {
    set_log_level(LogLevel::kOff);
    http::Route route;
    route.method = http::Method::kPost;
    route.pattern = "/in";
    route.handler = [this](const http::Request& request, const CallContext&) {
      MutexLock lock(mutex_);
      requests_.push_back(request);
      http::Response response = http::Response::text(status_, "text/plain", "");
      if (status_ == 302) response.headers.set("location", "/in");
      return response;
    };
    http::ServerOptions options;
    options.port = 0;
    server_ = http::Server::start(std::move(options), {std::move(route)}, metrics_).value();
  }
  std::string url() const { return "http://127.0.0.1:" + std::to_string(server_->port()) + "/in"; }
  void answer(int status) {
    MutexLock lock(mutex_);
    status_ = status;
  }
  std::vector<http::Request> requests() {
    MutexLock lock(mutex_);
    return requests_;
  }

 private:
  Metrics metrics_;
  Mutex mutex_;
  int status_ FOOTNOTE_TSA(guarded_by(mutex_)) = 204;
  std::vector<http::Request> requests_ FOOTNOTE_TSA(guarded_by(mutex_));
  std::unique_ptr<http::Server> server_;
};

class Webhooks : public ::testing::Test {
 protected:
  void SetUp() override {
    store_.tell_to(webhooks_);
    workspace_ = store_.find_workspace({}, kDefaultWorkspace)->id;
    corpus_ = store_.ensure_corpus({}, workspace_, "shop", {"m", 8})->id;
  }
  WebhookEndpoint listen(std::string url, std::vector<std::string> events = {std::string(kTurnCompleted)}) {
    return webhooks_
        .add_endpoint({}, {.workspace = workspace_, .url = std::move(url), .secret = std::string(kSecret), .events = std::move(events)})
        .value();
  }
  Result<void> ask(std::string id, std::optional<GapReason> gap = {}) {
    Turn turn{.id = {std::move(id)},
              .workspace = workspace_,
              .corpus = corpus_,
              .question = "Why?",
              .outcome = Answer{.text = "So."},
              .asked_at = clock_.now()};
    turn.visit = Visit{.agent = {"agt_1"}, .visitor = {"vis_1"}, .confidence = 0.5, .gap = gap};
    return store_.finish_turn({}, turn, 0, 0, {});
  }
  void send(http::Addresses addresses = http::Addresses::kAny) {
    WebhookSender(ports(), {.addresses = addresses}).run_once(CallContext::with_timeout(std::chrono::seconds{60}));
  }
  WebhookSender::Ports ports() { return {webhooks_, store_, store_, clock_, metrics_}; }
  std::uint64_t counted(const char* result) { return metrics_.counter("footnote_webhooks_total", "", {{"result", result}}).value(); }
  std::string last_error() {
    clock_.advance(std::chrono::hours{24 * 365});
    const auto due = webhooks_.due({}, clock_.now(), 1).value();
    return due.empty() ? "" : due.front().last_error;
  }

  ManualClock clock_{UtcTime{std::chrono::milliseconds{1'772'357'400'125}}};
  Metrics metrics_;
  fakes::MemoryStore store_{clock_};
  fakes::MemoryWebhookStore webhooks_{clock_};
  WorkspaceId workspace_;
  CorpusId corpus_;
  Receiver receiver_;
};

TEST_F(Webhooks, AMessageArrivesSigned) {
  listen(receiver_.url());
  ASSERT_TRUE(ask("turn_1").has_value());
  send();
  const auto requests = receiver_.requests();
  ASSERT_EQ(requests.size(), 1U);
  const http::Request& request = requests[0];
  const std::string id(request.headers.find("webhook-id").value());
  EXPECT_EQ(request.headers.find("webhook-timestamp"), "1772357400");
  EXPECT_EQ(request.headers.find("webhook-signature"), sign_webhook(kSecret, id, 1'772'357'400, request.body).value());
  EXPECT_EQ(request.headers.find("content-type"), "application/json");
  const Json body = parse_json(request.body).value();
  EXPECT_EQ(body.at("type"), "turn.completed");
  EXPECT_EQ(body.at("timestamp"), "2026-03-01T09:30:00.125Z");
  EXPECT_EQ(body.at("data").at("message_id"), "turn_1");
  EXPECT_EQ(body.at("data").at("agent_id"), "agt_1");
  EXPECT_EQ(body.at("data").at("question"), "Why?");
  EXPECT_EQ(body.at("data").at("answer"), "So.");
  EXPECT_EQ(webhooks_.waiting(), 0U);
  EXPECT_EQ(counted("sent"), 1U);
  send();
  EXPECT_EQ(receiver_.requests().size(), 1U) << "once";
}

TEST_F(Webhooks, GapsAndIngestsAreToldToo) {
  listen(receiver_.url(), {std::string(kGapOpened), std::string(kSourceIndexed)});
  ASSERT_TRUE(ask("turn_1", GapReason::kLowConfidence).has_value());
  ASSERT_TRUE(webhooks_.enqueue({}, {workspace_, std::string(kSourceIndexed), std::to_string(corpus_.value), clock_.now()}).has_value());
  send();
  const auto requests = receiver_.requests();
  ASSERT_EQ(requests.size(), 2U);
  const Json gap = parse_json(requests[0].body).value();
  EXPECT_EQ(gap.at("type"), "gap.opened");
  EXPECT_EQ(gap.at("data").at("reason"), "low_confidence");
  EXPECT_EQ(gap.at("data").at("question"), "Why?");
  const Json indexed = parse_json(requests[1].body).value();
  EXPECT_EQ(indexed.at("type"), "source.indexed");
  EXPECT_EQ(indexed.at("data").at("corpus"), "shop");
}

TEST_F(Webhooks, WhatFailsIsSentAgainUntilItIsGivenUp) {
  listen(receiver_.url());
  ASSERT_TRUE(ask("turn_1").has_value());
  receiver_.answer(500);
  for (int attempt = 0; attempt < kWebhookAttemptsMax + 2; ++attempt) {
    send();
    clock_.advance(std::chrono::hours{48});
  }
  EXPECT_EQ(receiver_.requests().size(), static_cast<std::size_t>(kWebhookAttemptsMax));
  const auto dead = webhooks_.dead({}, workspace_, 10).value();
  ASSERT_EQ(dead.size(), 1U);
  EXPECT_EQ(dead[0].attempts, kWebhookAttemptsMax);
  EXPECT_EQ(dead[0].last_error, "answered with status 500");
  EXPECT_EQ(counted("failed"), static_cast<std::uint64_t>(kWebhookAttemptsMax - 1));
  EXPECT_EQ(counted("given_up"), 1U);
  std::set<std::string> ids;
  for (const http::Request& request : receiver_.requests()) ids.emplace(request.headers.find("webhook-id").value());
  EXPECT_EQ(ids.size(), 1U) << "every attempt has the same id";
  receiver_.answer(200);
  ASSERT_TRUE(webhooks_.revive({}, workspace_, dead[0].id).has_value());
  send();
  EXPECT_EQ(counted("sent"), 1U);
}

TEST_F(Webhooks, NothingIsSentBeforeItsTime) {
  listen(receiver_.url());
  ASSERT_TRUE(ask("turn_1").has_value());
  receiver_.answer(503);
  send();
  send();
  EXPECT_EQ(receiver_.requests().size(), 1U);
}

TEST_F(Webhooks, RedirectsAreNotFollowed) {
  listen(receiver_.url());
  ASSERT_TRUE(ask("turn_1").has_value());
  receiver_.answer(302);
  send();
  EXPECT_EQ(receiver_.requests().size(), 1U);
  EXPECT_EQ(last_error(), "answered with status 302");
}

TEST_F(Webhooks, AddressesThatAreNotPublicAreNotReached) {
  listen(receiver_.url());
  listen("http://localhost:" + receiver_.url().substr(receiver_.url().rfind(':') + 1));
  ASSERT_TRUE(ask("turn_1").has_value());
  send(http::Addresses::kPublic);
  EXPECT_THAT(receiver_.requests(), IsEmpty());
  EXPECT_EQ(counted("failed"), 2U);
  EXPECT_NE(last_error().find("not an address of the public internet"), std::string::npos);
}

TEST_F(Webhooks, WhatWasErasedIsNotTold) {
  listen(receiver_.url());
  ASSERT_TRUE(ask("turn_1").has_value());
  ASSERT_TRUE(store_.erase_visitor({}, workspace_, {"vis_1"}).has_value());
  send();
  EXPECT_THAT(receiver_.requests(), IsEmpty());
  EXPECT_EQ(webhooks_.waiting(), 0U);
  EXPECT_EQ(counted("gone"), 1U);
}

TEST_F(Webhooks, AnEndpointThatFailsHoldsUpNoOther) {
  listen("http://127.0.0.1:1/in");
  listen(receiver_.url());
  for (const char* id : {"turn_1", "turn_2", "turn_3"}) ASSERT_TRUE(ask(id).has_value());
  send();
  EXPECT_EQ(receiver_.requests().size(), 3U);
  EXPECT_EQ(counted("failed"), 1U) << "one try a round is enough to know";
}

TEST_F(Webhooks, AFailingStoreBreaksNothingAndLosesNothing) {
  listen(receiver_.url());
  ASSERT_TRUE(ask("turn_1").has_value());
  webhooks_.due_faults().fail_after(0, ErrorCode::kUnavailable);
  send();
  EXPECT_THAT(receiver_.requests(), IsEmpty());
  EXPECT_TRUE(ask("turn_2").has_value()) << "turns are stored all the same";
  webhooks_.due_faults().heal();
  webhooks_.drop_faults().fail_after(0, ErrorCode::kUnavailable);
  send();
  EXPECT_EQ(receiver_.requests().size(), 2U);
  EXPECT_EQ(webhooks_.waiting(), 2U) << "sent, not noted: they come once more";
  receiver_.answer(500);
  webhooks_.postpone_faults().fail_after(0, ErrorCode::kUnavailable);
  send();
  EXPECT_EQ(webhooks_.waiting(), 2U);
}

TEST_F(Webhooks, ASecretThatIsNoneIsAFailureAndNoMore) {
  webhooks_.add_endpoint({}, {.workspace = workspace_, .url = receiver_.url(), .secret = "broken", .events = {std::string(kTurnCompleted)}})
      .value();
  ASSERT_TRUE(ask("turn_1").has_value());
  send();
  EXPECT_THAT(receiver_.requests(), IsEmpty());
  EXPECT_EQ(counted("failed"), 1U);
}

/// Answers one path only when released, and records how many calls wait there at once.
class HangingReceiver {
 public:
  HangingReceiver() {
    set_log_level(LogLevel::kOff);
    http::Route hang{.method = http::Method::kPost, .pattern = "/hang/{n}"};
    hang.handler = [this](const http::Request&, const CallContext& call) {
      MutexLock lock(mutex_);
      ++calls_;
      most_ = std::max(most_, ++now_);
      while (!released_ && !call.stop.stop_requested())
        changed_.wait_until(lock, std::chrono::steady_clock::now() + std::chrono::milliseconds{20});
      --now_;
      return http::Response::text(204, "text/plain", "");
    };
    http::Route answer{.method = http::Method::kPost, .pattern = "/in"};
    answer.handler = [this](const http::Request&, const CallContext&) {
      MutexLock lock(mutex_);
      calls_before_ = calls_;
      released_ = true;
      changed_.notify_all();
      return http::Response::text(204, "text/plain", "");
    };
    http::ServerOptions options;
    options.port = 0;
    server_ = http::Server::start(std::move(options), {std::move(hang), std::move(answer)}, metrics_).value();
  }
  std::string url(std::string_view path) const { return "http://127.0.0.1:" + std::to_string(server_->port()) + std::string(path); }
  /// The number of hanging calls made before the other endpoint was reached; none if it was not.
  std::optional<int> calls_before() {
    MutexLock lock(mutex_);
    return released_ ? std::optional(calls_before_) : std::nullopt;
  }
  int most_at_once() {
    MutexLock lock(mutex_);
    return most_;
  }

 private:
  Metrics metrics_;
  Mutex mutex_;
  CondVar changed_;
  int calls_ FOOTNOTE_TSA(guarded_by(mutex_)) = 0;
  int calls_before_ FOOTNOTE_TSA(guarded_by(mutex_)) = 0;
  int now_ FOOTNOTE_TSA(guarded_by(mutex_)) = 0;
  int most_ FOOTNOTE_TSA(guarded_by(mutex_)) = 0;
  bool released_ FOOTNOTE_TSA(guarded_by(mutex_)) = false;
  std::unique_ptr<http::Server> server_;
};

TEST_F(Webhooks, HangingEndpointsOfOneWorkspaceDelayNoOther) {
  HangingReceiver receiver;
  for (std::size_t i = 0; i < kWebhookEndpointsMax; ++i) listen(receiver.url("/hang/" + std::to_string(i)));
  ASSERT_TRUE(ask("t1"));
  const WorkspaceId other = store_.add_workspace({}, "other")->id;
  ASSERT_TRUE(webhooks_.add_endpoint(
      {}, {.workspace = other, .url = receiver.url("/in"), .secret = std::string(kSecret), .events = {std::string(kSourceIndexed)}}));
  const CorpusId corpus = store_.ensure_corpus({}, other, "docs", {"m", 8})->id;
  clock_.advance(std::chrono::seconds{1});
  ASSERT_TRUE(webhooks_.enqueue({}, {other, std::string(kSourceIndexed), std::to_string(corpus.value), clock_.now()}));
  WebhookSender sender(ports(), {.addresses = http::Addresses::kAny});
  sender.start();
  while (!receiver.calls_before()) std::this_thread::sleep_for(std::chrono::milliseconds{5});
  EXPECT_LT(*receiver.calls_before(), static_cast<int>(kWebhookEndpointsMax));
  EXPECT_LE(receiver.most_at_once(), static_cast<int>(kWebhookSendersOfWorkspaceMax));
}

TEST_F(Webhooks, TheThreadSendsByItselfAndEndsWhenItIsTold) {
  listen(receiver_.url());
  {
    WebhookSender sender(ports(), {.addresses = http::Addresses::kAny, .every = std::chrono::milliseconds{1}});
    sender.start();
    ASSERT_TRUE(ask("turn_1").has_value());
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds{30};
    while (webhooks_.waiting() > 0 && std::chrono::steady_clock::now() < deadline)
      std::this_thread::sleep_for(std::chrono::milliseconds{2});
  }
  EXPECT_EQ(receiver_.requests().size(), 1U);
}

}  // namespace
}  // namespace footnote::upkeep
