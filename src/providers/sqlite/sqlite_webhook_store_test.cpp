#include "providers/sqlite/sqlite_webhook_store.h"

#include <gmock/gmock.h>

#include "providers/sqlite/sqlite_agent_store.h"
#include "providers/sqlite/sqlite_conversation_store.h"
#include "providers/sqlite/store_for_test.h"

namespace footnote {
namespace {

class SqliteWebhooksTest : public SqliteStoreTest {
 protected:
  SqliteWebhookStore webhooks() { return SqliteWebhookStore(*store_); }
  WebhookEndpoint add() {
    return webhooks()
        .add_endpoint(call_, {.workspace = workspace_, .url = "https://h.example/", .secret = "whsec_AAAA", .events = {"turn.completed"}})
        .value();
  }
  void tell(std::string subject) {
    ASSERT_TRUE(webhooks().enqueue(call_, {workspace_, "turn.completed", std::move(subject), clock_.now()}).has_value());
  }
  std::int64_t count(sql::SqlText query) {
    return store_
        ->read(call_,
               [&](sql::Database& database) -> Result<std::int64_t> {
                 FOOTNOTE_TRY(auto find, database.prepare(query));
                 FOOTNOTE_CHECK(find.step());
                 return find.integer(0);
               })
        .value();
  }
};

TEST_F(SqliteWebhooksTest, SecretsAreEncryptedWhereTheyAreStored) {
  const WebhookEndpoint made = add();
  tell("t1");
  EXPECT_EQ(made.secret, "whsec_AAAA");
  EXPECT_EQ(webhooks().endpoints(call_, workspace_)->at(0).secret, "whsec_AAAA");
  EXPECT_EQ(webhooks().due(call_, clock_.now(), 1)->at(0).secret, "whsec_AAAA");
  EXPECT_EQ(webhooks().save_endpoint(call_, made)->secret, "whsec_AAAA");
  EXPECT_EQ(count("SELECT count(*) FROM webhook_endpoints WHERE instr(secret, 'AAAA') > 0"), 0);
  open();
  EXPECT_EQ(webhooks().endpoints(call_, workspace_)->at(0).secret, "whsec_AAAA");
}

TEST_F(SqliteWebhooksTest, SecretsOfAnOlderVersionAreEncryptedAtTheNextStart) {
  add();
  execute("UPDATE webhook_endpoints SET secret = 'whsec_BBBB'");
  EXPECT_EQ(webhooks().endpoints(call_, workspace_)->at(0).secret, "whsec_BBBB");
  open();
  EXPECT_EQ(count("SELECT count(*) FROM webhook_endpoints WHERE instr(secret, 'BBBB') > 0"), 0);
  EXPECT_EQ(webhooks().endpoints(call_, workspace_)->at(0).secret, "whsec_BBBB");
}

TEST_F(SqliteWebhooksTest, ACopyOfTheDatabaseAloneTellsNoSecret) {
  add();
  std::filesystem::remove(folder_.path() / kSecretKeyFile);
  open();
  EXPECT_EQ(webhooks().endpoints(call_, workspace_)->at(0).secret, "");
  const WebhookEndpoint next = add();
  EXPECT_EQ(webhooks().endpoints(call_, workspace_)->at(1).secret, next.secret);
}

TEST_F(SqliteWebhooksTest, AnEndpointKeepsMessagesUpToABound) {
  add();
  // One less than kWebhookMessagesMax, in one statement.
  execute(R"sql(
    WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 9999)
    INSERT INTO webhook_outbox (workspace_id, endpoint_id, message_id, type, subject, happened_at, next_at)
    SELECT e.workspace_id, e.id, 'msg_' || n, 'turn.completed', 'turn_' || n, 0, 0 FROM webhook_endpoints e, numbers)sql");
  tell("last");
  tell("too much");
  EXPECT_EQ(count("SELECT count(*) FROM webhook_outbox"), static_cast<std::int64_t>(kWebhookMessagesMax));
  EXPECT_EQ(count("SELECT count(*) FROM webhook_outbox WHERE subject = 'last'"), 1);
  EXPECT_EQ(webhooks().due(call_, clock_.now(), 16)->size(), 16U);
}

TEST_F(SqliteWebhooksTest, MessagesSurviveARestart) {
  add();
  tell("turn_1");
  const std::string id = webhooks().due(call_, clock_.now(), 1)->at(0).message_id;
  open();
  const auto due = webhooks().due(call_, clock_.now(), 10).value();
  ASSERT_EQ(due.size(), 1U);
  EXPECT_EQ(due[0].message_id, id);
}

TEST_F(SqliteWebhooksTest, ErasingAVisitorLeavesNoRowBehind) {
  SqliteConversationStore conversations(*store_);
  Turn turn{.id = {"turn_1"},
            .workspace = workspace_,
            .corpus = corpus_,
            .conversation = {"conv_1"},
            .question = "My name is Ada?",
            .outcome = Answer{.text = "x"},
            .asked_at = clock_.now()};
  turn.visit = Visit{.agent = {"agt_1"}, .visitor = {"vis_1"}, .gap = GapReason::kLowConfidence};
  ASSERT_TRUE(conversations.finish_turn(call_, turn, 1, 1, "{}").has_value());
  ASSERT_EQ(conversations.erase_visitor(call_, workspace_, {"vis_1"}).value(), 1U);
  EXPECT_EQ(count("SELECT (SELECT count(*) FROM turns) + (SELECT count(*) FROM visits) + (SELECT count(*) FROM turn_traces) + "
                  "(SELECT count(*) FROM conversations) + (SELECT count(*) FROM agent_gaps)"),
            0);
  EXPECT_TRUE(found().empty());
}

TEST_F(SqliteWebhooksTest, AStoreFromBeforeAgentsIsUpgradedInPlace) {
  execute(kUndoJobs);
  execute(
      "DROP TABLE projects; DROP TABLE erasures; DROP TABLE removed_agents; DROP TABLE webhook_outbox; DROP TABLE webhook_endpoints; DROP "
      "TABLE "
      "agent_usage_days; DROP TABLE visits; "
      "DROP TABLE agent_gaps; "
      "DROP TABLE curated_answers; DROP TABLE agent_versions; DROP TABLE agents; "
      "DROP TABLE added_edges; DROP TABLE eval_cases; DROP TABLE turn_feedback; DROP TABLE chat_messages; DROP TABLE chats; "
      "ALTER TABLE api_keys DROP COLUMN labels; ALTER TABLE api_keys DROP COLUMN origin_id; ALTER TABLE api_keys DROP COLUMN revoked_at; "
      "DROP INDEX document_versions_labelled; ALTER TABLE chunks DROP COLUMN places; PRAGMA "
      "user_version = 9");
  open();
  AgentSettings settings;
  settings.corpora = {corpus_};
  EXPECT_TRUE(SqliteAgentStore(*store_).add_agent(call_, workspace_, "Shop", settings).has_value());
  add();
  EXPECT_TRUE(found().empty());
}

}  // namespace
}  // namespace footnote
