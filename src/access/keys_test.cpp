#include "access/keys.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "access/key_text.h"
#include "fakes/memory_store.h"

namespace footnote::access {
namespace {

using namespace std::chrono_literals;

class KeysTest : public ::testing::Test {
 protected:
  std::unique_ptr<Keys> open(KeysOptions options = {}) { return Keys::open(call_, store_, clock_, "owner-secret", options).value(); }
  NewKey wanted(std::vector<KeyScope> scopes = {KeyScope::kRead}) { return {home_, "ci", std::move(scopes), std::nullopt, {}}; }
  ErrorCode refusal(std::string_view text) {
    const auto admitted = keys_->admit(text);
    return admitted ? ErrorCode::kInternal : admitted.error().code;
  }

  const CallContext call_;
  ManualClock clock_{UtcTime{std::chrono::milliseconds{1'772'357'400'000}}};
  fakes::MemoryStore store_{clock_};
  const WorkspaceId home_ = store_.find_workspace(call_, kDefaultWorkspace)->id;
  const WorkspaceId other_ = store_.add_workspace(call_, "other")->id;
  std::unique_ptr<Keys> keys_ = open();
};

TEST_F(KeysTest, TheFirstKeyClosesTheDoorForGood) {
  EXPECT_TRUE(keys_->is_open());
  EXPECT_FALSE(keys_->has_active());
  const IssuedKey made = keys_->create(call_, wanted()).value();
  EXPECT_FALSE(keys_->is_open());
  EXPECT_TRUE(keys_->has_active());
  ASSERT_TRUE(keys_->revoke(call_, home_, made.key.id));
  EXPECT_FALSE(keys_->is_open());
  EXPECT_FALSE(keys_->has_active());
  EXPECT_FALSE(open()->is_open()) << "a restart must not unlock it either";
}

TEST_F(KeysTest, AKeyLetsItsHolderIntoItsWorkspace) {
  NewKey key = wanted({KeyScope::kRead, KeyScope::kIngest});
  key.workspace = other_;
  const IssuedKey made = keys_->create(call_, key).value();
  const Caller caller = keys_->admit(made.text)->caller;
  EXPECT_EQ(caller.workspace, other_);
  EXPECT_EQ(caller.key, made.key.id);
  EXPECT_TRUE(caller.may(KeyScope::kRead));
  EXPECT_TRUE(caller.may(KeyScope::kIngest));
  EXPECT_FALSE(caller.may(KeyScope::kAdmin));
  EXPECT_FALSE(caller.may(KeyScope::kVisitor));
  EXPECT_FALSE(caller.is_operator);
}

TEST_F(KeysTest, OnlyAdminsOfTheDefaultWorkspaceAreOperators) {
  NewKey key = wanted({KeyScope::kAdmin});
  EXPECT_TRUE(keys_->admit(keys_->create(call_, key)->text)->caller.is_operator);
  key.workspace = other_;
  const Caller theirs = keys_->admit(keys_->create(call_, key)->text)->caller;
  EXPECT_FALSE(theirs.is_operator);
  EXPECT_TRUE(theirs.may(KeyScope::kIngest));
  EXPECT_FALSE(theirs.may(KeyScope::kVisitor));
  EXPECT_FALSE(keys_->admit(keys_->create(call_, wanted())->text)->caller.is_operator);
}

TEST_F(KeysTest, OnlyAHashIsStored) {
  const IssuedKey made = keys_->create(call_, wanted()).value();
  const ApiKey stored = store_.keys(call_).value().at(0);
  EXPECT_THAT(made.text, ::testing::StartsWith(stored.display_prefix));
  EXPECT_EQ(stored.secret_hash.size(), 64U);
  const std::string secret = made.text.substr(stored.display_prefix.size());
  for (const std::string& kept : {stored.name, stored.secret_hash}) EXPECT_EQ(kept.find(secret), std::string::npos);
}

TEST_F(KeysTest, WhatIsNotAKeyIsRefusedAlike) {
  const IssuedKey made = keys_->create(call_, wanted()).value();
  const std::string unknown = make_key_text();
  std::string message;
  for (const std::string& text : {std::string(), std::string("garbage"), unknown, made.text + " ", made.text.substr(0, 20),
                                  std::string(made.key.secret_hash), std::string("owner-secre")}) {
    const auto refused = keys_->admit(text);
    ASSERT_FALSE(refused) << text;
    EXPECT_EQ(refused.error().code, ErrorCode::kUnauthenticated);
    if (message.empty()) message = refused.error().message;
    EXPECT_EQ(refused.error().message, message) << "the message does not help guessing";
  }
}

TEST_F(KeysTest, AnExpiredOrRevokedKeyIsRefusedFromThatMomentOn) {
  NewKey short_lived = wanted();
  short_lived.expires_at = clock_.now() + 1h;
  const IssuedKey expiring = keys_->create(call_, short_lived).value();
  const IssuedKey revoked = keys_->create(call_, wanted()).value();
  EXPECT_TRUE(keys_->admit(expiring.text));
  ASSERT_TRUE(keys_->revoke(call_, home_, revoked.key.id));
  EXPECT_EQ(refusal(revoked.text), ErrorCode::kUnauthenticated);
  clock_.advance(1h - 1ms);
  EXPECT_TRUE(keys_->admit(expiring.text));
  clock_.advance(1ms);
  EXPECT_EQ(refusal(expiring.text), ErrorCode::kUnauthenticated);
  keys_ = open();
  EXPECT_EQ(refusal(revoked.text), ErrorCode::kUnauthenticated);
}

TEST_F(KeysTest, ARevokedKeyStaysRevokedWhenTheClockStepsBack) {
  const IssuedKey revoked = keys_->create(call_, wanted()).value();
  const IssuedKey rotated = keys_->create(call_, wanted()).value();
  ASSERT_TRUE(keys_->revoke(call_, home_, revoked.key.id));
  ASSERT_TRUE(keys_->rotate(call_, home_, rotated.key.id, 0s));
  clock_.advance(-24h * 400);
  EXPECT_EQ(refusal(revoked.text), ErrorCode::kUnauthenticated);
  EXPECT_EQ(refusal(rotated.text), ErrorCode::kUnauthenticated);
  keys_ = open();
  EXPECT_EQ(refusal(revoked.text), ErrorCode::kUnauthenticated);
  EXPECT_EQ(refusal(rotated.text), ErrorCode::kUnauthenticated);
}

TEST_F(KeysTest, ASessionStandsForItsKey) {
  const IssuedKey made = keys_->create(call_, wanted({KeyScope::kRead, KeyScope::kIngest})).value();
  const Session session = keys_->open_session(made.text).value();
  EXPECT_EQ(session.text.find(made.text), std::string::npos) << "the key cannot be read from it";
  EXPECT_LT(session.text.size(), kSessionBytesMax);
  const Caller caller = keys_->admit_session(session.text)->caller;
  EXPECT_EQ(caller.key, made.key.id);
  EXPECT_EQ(caller.scopes, made.key.scopes);
  EXPECT_TRUE(open()->admit_session(session.text)) << "it survives a restart";
  EXPECT_FALSE(keys_->admit(session.text)) << "it is no key";
  EXPECT_FALSE(keys_->open_session(session.text));
}

TEST_F(KeysTest, ASessionEndsInTimeAndWithItsKey) {
  const IssuedKey made = keys_->create(call_, wanted()).value();
  const Session session = keys_->open_session(made.text).value();
  const Session owners = keys_->open_session("owner-secret").value();
  clock_.advance(kSessionTime - 1min);
  EXPECT_TRUE(keys_->admit_session(session.text));
  EXPECT_TRUE(keys_->admit_session(owners.text)->caller.is_operator);
  EXPECT_FALSE(Keys::open(call_, store_, clock_, "another-owner").value()->admit_session(owners.text));
  clock_.advance(1min);
  EXPECT_FALSE(keys_->admit_session(session.text));
  EXPECT_FALSE(keys_->admit_session(owners.text));
  const Session next = keys_->open_session(made.text).value();
  ASSERT_TRUE(keys_->revoke(call_, home_, made.key.id));
  EXPECT_FALSE(keys_->admit_session(next.text));
  EXPECT_FALSE(keys_->open_session(made.text));
}

TEST_F(KeysTest, AChangedSessionIsRefused) {
  const IssuedKey made = keys_->create(call_, wanted()).value();
  const IssuedKey other = keys_->create(call_, wanted({KeyScope::kAdmin})).value();
  const std::string text = keys_->open_session(made.text)->text;
  const std::string signature = text.substr(text.rfind('.'));
  const std::string expiry = text.substr(text.find('.'), text.rfind('.') - text.find('.'));
  std::vector<std::string> forged{"",
                                  ".",
                                  "..",
                                  "...",
                                  "1",
                                  "0" + expiry + signature,
                                  fmt::format("{}", other.key.id.value) + expiry + signature,
                                  fmt::format("{}", made.key.id.value) + expiry + "0" + signature,
                                  text + "0",
                                  text.substr(0, text.size() - 1),
                                  fmt::format("{}.99999999999999999999{}", made.key.id.value, signature),
                                  fmt::format("{}.9223372036854775807{}", made.key.id.value, signature),
                                  "-1" + expiry + signature,
                                  std::string(kSessionBytesMax + 1, '1')};
  for (const std::string& attempt : forged) EXPECT_FALSE(keys_->admit_session(attempt)) << attempt;
}

TEST_F(KeysTest, ARotatedKeyLivesOnForItsGrace) {
  NewKey key = wanted({KeyScope::kIngest});
  key.expires_at = clock_.now() + 100h;
  key.limits = {5, 50};
  const IssuedKey old = keys_->create(call_, key).value();
  clock_.advance(90h);
  const IssuedKey next = keys_->rotate(call_, home_, old.key.id, 2h).value();
  EXPECT_NE(next.text, old.text);
  EXPECT_EQ(next.key.name, "ci");
  EXPECT_EQ(next.key.scopes, old.key.scopes);
  EXPECT_EQ(next.key.limits, old.key.limits);
  EXPECT_EQ(next.key.expires_at, clock_.now() + 100h);
  EXPECT_TRUE(keys_->admit(old.text));
  EXPECT_TRUE(keys_->admit(next.text));
  clock_.advance(2h);
  EXPECT_EQ(refusal(old.text), ErrorCode::kUnauthenticated);
  EXPECT_TRUE(keys_->admit(next.text));
  EXPECT_EQ(keys_->rotate(call_, home_, old.key.id, 2h).error().code, ErrorCode::kFailedPrecondition);
}

TEST_F(KeysTest, AForeignWorkspacesKeysAreNotThere) {
  const IssuedKey made = keys_->create(call_, wanted()).value();
  EXPECT_EQ(keys_->revoke(call_, other_, made.key.id).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(keys_->rotate(call_, other_, made.key.id, 1h).error().code, ErrorCode::kNotFound);
  EXPECT_TRUE(keys_->list(other_).empty());
  EXPECT_EQ(keys_->list(home_).size(), 1U);
  EXPECT_TRUE(keys_->admit(made.text));
}

TEST_F(KeysTest, WrongWishesNameTheirField) {
  const auto field_of = [&](const NewKey& key) { return keys_->create(call_, key).error().field; };
  NewKey key = wanted();
  key.name = "  ";
  EXPECT_EQ(field_of(key), "name");
  key.name = std::string(kKeyNameBytesMax + 1, 'x');
  EXPECT_EQ(field_of(key), "name");
  EXPECT_EQ(field_of(wanted({})), "scopes");
  key = wanted();
  key.expires_at = clock_.now();
  EXPECT_EQ(field_of(key), "expires_at");
  key = wanted();
  key.limits.requests_per_day = -1;
  EXPECT_EQ(field_of(key), "requests_per_day");
  key = wanted();
  key.limits.requests_per_minute = kRequestsPerMinuteMax + 1;
  EXPECT_EQ(field_of(key), "requests_per_minute");
  EXPECT_TRUE(keys_->is_open()) << "none of these created a key";
}

TEST_F(KeysTest, AdminsOfAWorkspaceStayBelowTheOperatorsCeilings) {
  keys_ = open({.requests_per_minute_max = 100, .active_keys_max = 2});
  NewKey key = wanted();
  key.workspace = other_;
  key.limits = {101, 0};
  EXPECT_EQ(keys_->create(call_, key).error().field, "requests_per_minute");
  key.limits = {100, 0};
  const IssuedKey first = keys_->create(call_, key).value();
  ASSERT_TRUE(keys_->create(call_, key));
  EXPECT_EQ(keys_->create(call_, key).error().code, ErrorCode::kResourceExhausted);
  ASSERT_TRUE(keys_->create(call_, wanted())) << "other workspaces have their own";
  ASSERT_TRUE(keys_->revoke(call_, other_, first.key.id));
  ASSERT_TRUE(keys_->create(call_, key)) << "one that ended makes room";
  key.maker = KeyMaker::kOperator;
  key.limits = {101, 0};
  EXPECT_TRUE(keys_->create(call_, key));
}

TEST_F(KeysTest, BoundsAreCountedPerKey) {
  keys_ = open({.requests_per_minute = 2});
  const IssuedKey one = keys_->create(call_, wanted()).value();
  NewKey wide = wanted();
  wide.limits.requests_per_minute = 3;
  const IssuedKey two = keys_->create(call_, wide).value();
  for (int i = 0; i < 2; ++i) EXPECT_FALSE(keys_->admit(one.text)->rate.retry_after);
  EXPECT_TRUE(keys_->admit(one.text)->rate.retry_after);
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(keys_->admit(two.text)->rate.retry_after);
  EXPECT_TRUE(keys_->admit(two.text)->rate.retry_after);
}

TEST_F(KeysTest, UseIsSavedAndGoesOnAfterARestart) {
  NewKey key = wanted();
  key.limits.requests_per_day = 2;
  const IssuedKey made = keys_->create(call_, key).value();
  EXPECT_FALSE(keys_->list(home_)[0].usage.last_used_at);
  keys_->admit(made.text).value();
  EXPECT_EQ(keys_->list(home_)[0].usage.last_used_at, clock_.now());
  ASSERT_TRUE(keys_->save_usage(call_));
  EXPECT_EQ(store_.keys(call_).value().at(0).usage.requests, 1);
  keys_ = open();
  EXPECT_FALSE(keys_->admit(made.text)->rate.retry_after);
  EXPECT_TRUE(keys_->admit(made.text)->rate.retry_after);
}

TEST_F(KeysTest, TheOwnerIsTheOperator) {
  const Admission admitted = keys_->admit("owner-secret").value();
  EXPECT_TRUE(admitted.caller.is_operator);
  EXPECT_EQ(admitted.caller.workspace, home_);
  EXPECT_TRUE(admitted.rate.windows.empty());
  const auto nobody = Keys::open(call_, store_, clock_, "").value();
  EXPECT_FALSE(nobody->admit(""));
}

TEST_F(KeysTest, ManyThreadsAdmitWhileKeysComeAndGo) {
  const IssuedKey lasting = keys_->create(call_, wanted()).value();
  std::vector<std::jthread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 500; ++round) EXPECT_TRUE(keys_->admit(lasting.text));
    });
  }
  for (int round = 0; round < 50; ++round) {
    const IssuedKey made = keys_->create(call_, wanted()).value();
    EXPECT_TRUE(keys_->admit(made.text));
    EXPECT_TRUE(keys_->revoke(call_, home_, made.key.id));
    EXPECT_FALSE(keys_->admit(made.text));
    EXPECT_TRUE(keys_->save_usage(call_));
  }
}

}  // namespace
}  // namespace footnote::access
