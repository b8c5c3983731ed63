#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "contracts/stopped_call.h"
#include "ports/catalog_store.h"
#include "ports/conversation_store.h"
#include "ports/webhook_store.h"

/// What every WebhookStore must do, together with the ConversationStore that queues its messages. Include in one test file of a provider
/// and write
///   INSTANTIATE_TEST_SUITE_P(Sqlite, WebhookStoreContract, ::testing::Values(WebhookStoreCase{"sqlite", make}), webhook_store_case_name);
namespace footnote::contract {

/// An empty store, and what the suite needs around it.
class WebhookStoreHarness {
 public:
  virtual ~WebhookStoreHarness() = default;
  virtual WebhookStore& webhooks() = 0;
  virtual ConversationStore& conversations() = 0;
  virtual CatalogStore& catalog() = 0;
  virtual ManualClock& clock() = 0;
  /// A second workspace.
  virtual WorkspaceId other_workspace() = 0;
};

struct WebhookStoreCase {
  std::string name;
  std::function<std::unique_ptr<WebhookStoreHarness>()> make;
};

inline std::string webhook_store_case_name(const ::testing::TestParamInfo<WebhookStoreCase>& info) { return info.param.name; }

class WebhookStoreContract : public ::testing::TestWithParam<WebhookStoreCase> {
 protected:
  void SetUp() override { workspace_ = harness_->catalog().find_workspace(call_, kDefaultWorkspace).value().id; }

  WebhookStore& store() { return harness_->webhooks(); }
  UtcTime now() { return harness_->clock().now(); }
  WebhookEndpoint add(std::vector<std::string> events = {std::string(kTurnCompleted)}, std::string url = "https://hooks.example/in") {
    return store()
        .add_endpoint(call_, {.workspace = workspace_, .url = std::move(url), .secret = "whsec_AAAA", .events = std::move(events)})
        .value();
  }
  void tell(std::string subject, std::string_view type = kTurnCompleted) {
    ASSERT_TRUE(store().enqueue(call_, {workspace_, std::string(type), std::move(subject), now()}).has_value());
  }
  std::vector<WebhookDelivery> due(std::size_t per_endpoint = 100) { return store().due(call_, now(), per_endpoint).value(); }
  std::vector<std::string> subjects(std::size_t per_endpoint = 100) {
    std::vector<std::string> out;
    for (const WebhookDelivery& delivery : due(per_endpoint)) out.push_back(delivery.news.subject);
    return out;
  }

  const CallContext call_;
  std::unique_ptr<WebhookStoreHarness> harness_ = GetParam().make();
  WorkspaceId workspace_;
};

TEST_P(WebhookStoreContract, AnEndpointComesBackAsItWasStored) {
  const WebhookEndpoint made = add({std::string(kGapOpened), std::string(kTurnCompleted)});
  const auto all = store().endpoints(call_, workspace_).value();
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].id, made.id);
  EXPECT_EQ(all[0].workspace, workspace_);
  EXPECT_EQ(all[0].url, "https://hooks.example/in");
  EXPECT_EQ(all[0].secret, "whsec_AAAA");
  EXPECT_THAT(all[0].events, ::testing::ElementsAre(kGapOpened, kTurnCompleted));
  EXPECT_TRUE(all[0].enabled);
  EXPECT_EQ(all[0].created_at, now());
  WebhookEndpoint changed = made;
  changed.url = "https://other.example/";
  changed.secret = "whsec_BBBB";
  changed.events = {std::string(kSourceIndexed)};
  changed.enabled = false;
  ASSERT_TRUE(store().save_endpoint(call_, changed).has_value());
  const WebhookEndpoint read = store().endpoints(call_, workspace_)->at(0);
  EXPECT_EQ(read.url, "https://other.example/");
  EXPECT_EQ(read.secret, "whsec_AAAA") << "the secret stays";
  EXPECT_THAT(read.events, ::testing::ElementsAre(kSourceIndexed));
  EXPECT_FALSE(read.enabled);
}

TEST_P(WebhookStoreContract, WhatIsWrongIsNotStored) {
  const auto field = [&](std::string url, std::vector<std::string> events) {
    return store().add_endpoint(call_, {.workspace = workspace_, .url = std::move(url), .events = std::move(events)}).error().field;
  };
  EXPECT_EQ(field("ftp://hooks.example/", {std::string(kGapOpened)}), "url");
  EXPECT_EQ(field("https://user@hooks.example/", {std::string(kGapOpened)}), "url");
  EXPECT_EQ(field("https://hooks.example/", {}), "events");
  EXPECT_EQ(field("https://hooks.example/", {"turn.started"}), "events");
  EXPECT_EQ(field("https://hooks.example/", {std::string(kGapOpened), std::string(kGapOpened)}), "events");
  EXPECT_TRUE(store().endpoints(call_, workspace_)->empty());
}

TEST_P(WebhookStoreContract, EndpointsHaveABound) {
  for (std::size_t i = 0; i < kWebhookEndpointsMax; ++i) add();
  const auto more =
      store().add_endpoint(call_, {.workspace = workspace_, .url = "https://a.example/", .events = {std::string(kGapOpened)}});
  EXPECT_EQ(more.error().code, ErrorCode::kResourceExhausted);
}

TEST_P(WebhookStoreContract, AnotherWorkspacesEndpointIsNotThere) {
  WebhookEndpoint made = add();
  tell("turn_1");
  const DeliveryId id = due().at(0).id;
  ASSERT_TRUE(store().postpone(call_, id, "no", std::nullopt).has_value());
  const WorkspaceId other = harness_->other_workspace();
  EXPECT_TRUE(store().endpoints(call_, other)->empty());
  EXPECT_TRUE(store().dead(call_, other, 10)->empty());
  EXPECT_EQ(store().revive(call_, other, id).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(store().remove_endpoint(call_, other, made.id).error().code, ErrorCode::kNotFound);
  made.workspace = other;
  EXPECT_EQ(store().save_endpoint(call_, made).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(store().endpoints(call_, workspace_)->size(), 1U);
}

TEST_P(WebhookStoreContract, NewsGoToWhoWantsThem) {
  const WebhookEndpoint turns = add();
  const WebhookEndpoint gaps = add({std::string(kGapOpened)});
  WebhookEndpoint off = add();
  off.enabled = false;
  ASSERT_TRUE(store().save_endpoint(call_, off).has_value());
  tell("turn_1");
  tell("7", kGapOpened);
  ASSERT_TRUE(store().enqueue(call_, {harness_->other_workspace(), std::string(kTurnCompleted), "turn_2", now()}).has_value());
  const auto found = due();
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].endpoint, turns.id);
  EXPECT_EQ(found[0].news.subject, "turn_1");
  EXPECT_EQ(found[0].news.type, kTurnCompleted);
  EXPECT_EQ(found[0].news.workspace, workspace_);
  EXPECT_EQ(found[0].news.happened_at, now());
  EXPECT_EQ(found[0].url, turns.url);
  EXPECT_EQ(found[0].secret, "whsec_AAAA");
  EXPECT_TRUE(found[0].message_id.starts_with("msg_"));
  EXPECT_EQ(found[1].endpoint, gaps.id);
  EXPECT_NE(found[0].message_id, found[1].message_id);
}

TEST_P(WebhookStoreContract, WhatFailedIsDueAgainLater) {
  add();
  tell("turn_1");
  const WebhookDelivery first = due().at(0);
  EXPECT_EQ(first.attempts, 0);
  ASSERT_TRUE(store().postpone(call_, first.id, "503", now() + std::chrono::seconds{5}).has_value());
  EXPECT_THAT(subjects(), ::testing::IsEmpty());
  harness_->clock().advance(std::chrono::seconds{5});
  const WebhookDelivery again = due().at(0);
  EXPECT_EQ(again.attempts, 1);
  EXPECT_EQ(again.last_error, "503");
  EXPECT_EQ(again.message_id, first.message_id) << "so that the receiver knows it again";
  ASSERT_TRUE(store().drop(call_, again.id).has_value());
  EXPECT_THAT(subjects(), ::testing::IsEmpty());
  EXPECT_TRUE(store().drop(call_, again.id).has_value()) << "gone is gone";
  EXPECT_TRUE(store().postpone(call_, again.id, "late", now()).has_value());
  EXPECT_THAT(subjects(), ::testing::IsEmpty());
}

TEST_P(WebhookStoreContract, WhatWasGivenUpCanBeRevived) {
  add();
  for (const char* subject : {"turn_1", "turn_2"}) tell(subject);
  for (const WebhookDelivery& delivery : due()) ASSERT_TRUE(store().postpone(call_, delivery.id, "410", std::nullopt).has_value());
  EXPECT_THAT(subjects(), ::testing::IsEmpty());
  const auto dead = store().dead(call_, workspace_, 10).value();
  ASSERT_EQ(dead.size(), 2U);
  EXPECT_EQ(dead[0].news.subject, "turn_2") << "newest first";
  EXPECT_EQ(dead[0].dead_at, now());
  EXPECT_EQ(dead[0].last_error, "410");
  EXPECT_EQ(dead[0].attempts, 1);
  EXPECT_EQ(store().dead(call_, workspace_, 1)->size(), 1U);
  harness_->clock().advance(std::chrono::hours{1});
  ASSERT_TRUE(store().revive(call_, workspace_, dead[1].id).has_value());
  EXPECT_THAT(subjects(), ::testing::ElementsAre("turn_1"));
  EXPECT_EQ(due().at(0).attempts, 0);
  EXPECT_EQ(store().revive(call_, workspace_, dead[1].id).error().code, ErrorCode::kNotFound) << "it is alive";
  EXPECT_EQ(store().dead(call_, workspace_, 10)->size(), 1U);
}

TEST_P(WebhookStoreContract, NoEndpointWaitsBehindAnothersBacklog) {
  add({std::string(kTurnCompleted)});
  for (int i = 0; i < 5; ++i) tell("turn_" + std::to_string(i));
  harness_->clock().advance(std::chrono::seconds{1});
  add({std::string(kGapOpened)});
  tell("7", kGapOpened);
  EXPECT_THAT(subjects(2), ::testing::ElementsAre("turn_0", "turn_1", "7"));
}

TEST_P(WebhookStoreContract, MessagesGoWithTheirEndpoint) {
  const WebhookEndpoint made = add();
  tell("turn_1");
  ASSERT_TRUE(store().remove_endpoint(call_, workspace_, made.id).has_value());
  EXPECT_THAT(subjects(), ::testing::IsEmpty());
  EXPECT_EQ(store().remove_endpoint(call_, workspace_, made.id).error().code, ErrorCode::kNotFound);
}

TEST_P(WebhookStoreContract, AnEndpointThatIsOffWaits) {
  WebhookEndpoint made = add();
  tell("turn_1");
  made.enabled = false;
  ASSERT_TRUE(store().save_endpoint(call_, made).has_value());
  EXPECT_THAT(subjects(), ::testing::IsEmpty());
  made.enabled = true;
  ASSERT_TRUE(store().save_endpoint(call_, made).has_value());
  EXPECT_THAT(subjects(), ::testing::ElementsAre("turn_1"));
}

TEST_P(WebhookStoreContract, ATurnBringsItsNewsInTheSameStep) {
  add({std::string(kTurnCompleted), std::string(kGapOpened)});
  const CorpusId corpus = harness_->catalog().ensure_corpus(call_, workspace_, "shop", {"model-a", 8}).value().id;
  const auto finish = [&](std::string id, std::optional<GapReason> gap, bool playground = false) {
    Turn turn{.id = {std::move(id)},
              .workspace = workspace_,
              .corpus = corpus,
              .question = "Why?",
              .outcome = Answer{.text = "x"},
              .asked_at = now()};
    turn.visit = Visit{.agent = {"agt_shop"}, .visitor = {"vis_1"}, .gap = gap, .playground = playground};
    return harness_->conversations().finish_turn(call_, turn, 0, 0, {});
  };
  const auto news = [&] {
    std::vector<std::string> out;
    for (const WebhookDelivery& delivery : due()) {
      out.push_back(delivery.news.type);
      EXPECT_TRUE(store().drop(call_, delivery.id).has_value());
    }
    return out;
  };
  ASSERT_TRUE(finish("turn_1", GapReason::kLowConfidence).has_value());
  EXPECT_THAT(news(), ::testing::UnorderedElementsAre(kGapOpened, kTurnCompleted));
  ASSERT_TRUE(finish("turn_2", GapReason::kLowConfidence).has_value());
  EXPECT_THAT(news(), ::testing::ElementsAre(kTurnCompleted)) << "that gap is open already";
  EXPECT_FALSE(finish("turn_2", GapReason::kLowConfidence).has_value());
  ASSERT_TRUE(finish("turn_3", GapReason::kLowConfidence, true).has_value());
  EXPECT_THAT(news(), ::testing::IsEmpty()) << "nothing of what failed or was only tried";
  const auto gaps = harness_->conversations().agent_gaps(call_, workspace_, {"agt_shop"}, {}, 10).value();
  ASSERT_TRUE(harness_->conversations().set_gap_status(call_, workspace_, gaps.at(0).id, GapStatus::kAnswered).has_value());
  ASSERT_TRUE(finish("turn_4", GapReason::kLowConfidence).has_value());
  EXPECT_THAT(news(), ::testing::UnorderedElementsAre(kGapOpened, kTurnCompleted)) << "open again";
  ASSERT_TRUE(finish("turn_5", std::nullopt).has_value());
  EXPECT_THAT(news(), ::testing::ElementsAre(kTurnCompleted));
}

TEST_P(WebhookStoreContract, AStoppedCallWritesNothing) {
  add();
  EXPECT_EQ(store().enqueue(stopped_call(), {workspace_, std::string(kTurnCompleted), "turn_1", now()}).error().code,
            ErrorCode::kCancelled);
  EXPECT_THAT(subjects(), ::testing::IsEmpty());
}

}  // namespace footnote::contract
