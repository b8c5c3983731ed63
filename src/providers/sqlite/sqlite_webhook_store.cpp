#include "providers/sqlite/sqlite_webhook_store.h"

#include "base/log.h"
#include "base/utf8.h"
#include "providers/sqlite/rows.h"
#include "providers/sqlite/stored_json.h"
#include "providers/sqlite/webhook_rows.h"

namespace footnote {

namespace {

constexpr std::size_t kMessageIdCharacters = 24;
constexpr std::size_t kErrorBytesMax = 500;

std::unexpected<Error> no_endpoint(WebhookId id) { return fail(ErrorCode::kNotFound, "there is no webhook {}", id.value); }

/// Reads columns id, workspace_id, enabled, created_at, url, secret, events.
Result<WebhookEndpoint> endpoint_from(const sql::Statement& row) {
  FOOTNOTE_TRY(auto events, texts_from_stored_text(row.text(6)));
  return WebhookEndpoint{.id = {row.integer(0)},
                         .workspace = {row.integer(1)},
                         .url = std::string(row.text(4)),
                         .secret = std::string(row.text(5)),
                         .events = std::move(events),
                         .enabled = row.integer(2) != 0,
                         .created_at = time_from(row.integer(3))};
}

/// A secret is bound to its workspace: a row moved to another workspace can't be decrypted.
std::string context_of(WorkspaceId workspace) { return fmt::format("webhook secret of workspace {}", workspace.value); }

std::string opened(const SqliteStore& store, WorkspaceId workspace, const std::string& secret) {
  if (!SecretBox::is_sealed(secret)) return secret;
  const auto box = store.secrets();
  const auto text = box ? box->unseal(secret, context_of(workspace)) : Result<std::string>(std::unexpected(box.error()));
  if (text) return *text;
  log(LogLevel::kWarn, "sql", "can't decrypt a webhook's secret; create the webhook again, or restore secret.key",
      {{"workspace", workspace.value}, {"error", text.error().message}});
  return {};
}

Result<WebhookEndpoint> read_endpoint(sql::Database& database, WorkspaceId workspace, WebhookId id) {
  FOOTNOTE_TRY(auto find, database.prepare("SELECT id, workspace_id, enabled, created_at, url, secret, events FROM webhook_endpoints "
                                           "WHERE id = ? AND workspace_id = ?"));
  find.bind(id.value, workspace.value);
  FOOTNOTE_TRY(const bool found, find.step());
  if (!found) return no_endpoint(id);
  return endpoint_from(find);
}

/// Reads columns o.id, endpoint_id, url, secret, message_id, o.workspace_id, type, subject, happened_at, attempts, next_at, dead_at,
/// last_error.
WebhookDelivery delivery_from(const sql::Statement& row) {
  return {.id = {row.integer(0)},
          .endpoint = {row.integer(1)},
          .url = std::string(row.text(2)),
          .secret = std::string(row.text(3)),
          .message_id = std::string(row.text(4)),
          .news = {.workspace = {row.integer(5)},
                   .type = std::string(row.text(6)),
                   .subject = std::string(row.text(7)),
                   .happened_at = time_from(row.integer(8))},
          .attempts = static_cast<int>(row.integer(9)),
          .next_at = time_from(row.integer(10)),
          .dead_at = time_from(row.optional_integer(11)),
          .last_error = std::string(row.text(12))};
}

Result<std::vector<WebhookDelivery>> deliveries_of(sql::Statement list) {
  return list.collect<WebhookDelivery>([&](const sql::Statement& row) { return delivery_from(row); });
}

}  // namespace

Result<void> enqueue_webhooks(sql::Database& database, const WebhookNews& news) {
  FOOTNOTE_TRY(auto insert, database.prepare(R"sql(
    INSERT INTO webhook_outbox (workspace_id, endpoint_id, message_id, type, subject, happened_at, next_at)
    SELECT e.workspace_id, e.id, ?1 || '_' || e.id, ?2, ?3, ?4, ?4 FROM webhook_endpoints e
    WHERE e.workspace_id = ?5 AND e.enabled AND EXISTS (SELECT 1 FROM json_each(e.events) WHERE value = ?2)
      AND (SELECT count(*) FROM webhook_outbox o WHERE o.endpoint_id = e.id) < ?6)sql"));
  insert.bind("msg_" + random_base62(kMessageIdCharacters), news.type, news.subject, to_row(news.happened_at), news.workspace.value,
              kWebhookMessagesMax);
  return insert.run();
}

Result<void> seal_webhook_secrets(sql::Database& database, const std::filesystem::path& key_file) {
  std::vector<std::tuple<std::int64_t, WorkspaceId, std::string>> plain;
  FOOTNOTE_TRY(auto list, database.prepare("SELECT id, workspace_id, secret FROM webhook_endpoints"));
  FOOTNOTE_CHECK(list.each([&](const sql::Statement& row) -> Result<void> {
    if (!SecretBox::is_sealed(row.text(2))) plain.emplace_back(row.integer(0), WorkspaceId{row.integer(1)}, row.text(2));
    return {};
  }));
  if (plain.empty()) return {};
  FOOTNOTE_TRY(const SecretBox box, SecretBox::open(key_file));
  FOOTNOTE_CHECK(database.execute("PRAGMA secure_delete = ON"));  // Overwrites the old, unencrypted value on disk.
  FOOTNOTE_TRY(auto transaction, sql::Transaction::begin(database));
  for (const auto& [id, workspace, secret] : plain) {
    FOOTNOTE_TRY(const std::string sealed, box.seal(secret, context_of(workspace)));
    FOOTNOTE_TRY(auto update, database.prepare("UPDATE webhook_endpoints SET secret = ? WHERE id = ?"));
    update.bind(sealed, id);
    FOOTNOTE_CHECK(update.run());
  }
  FOOTNOTE_CHECK(transaction.commit());
  return database.execute("PRAGMA secure_delete = OFF");
}

Result<std::vector<WebhookDelivery>> SqliteWebhookStore::with_secrets(Result<std::vector<WebhookDelivery>> deliveries) const {
  if (!deliveries) return deliveries;
  for (WebhookDelivery& delivery : *deliveries) delivery.secret = opened(store_, delivery.news.workspace, delivery.secret);
  return deliveries;
}

Result<std::vector<WebhookEndpoint>> SqliteWebhookStore::endpoints(const CallContext& call, WorkspaceId workspace) const {
  return store_.read(call, [&](sql::Database& database) -> Result<std::vector<WebhookEndpoint>> {
    FOOTNOTE_TRY(auto list, database.prepare("SELECT id, workspace_id, enabled, created_at, url, secret, events FROM webhook_endpoints "
                                             "WHERE workspace_id = ? ORDER BY id"));
    list.bind(workspace.value);
    std::vector<WebhookEndpoint> out;
    auto done = list.each([&](const sql::Statement& row) -> Result<void> {
      FOOTNOTE_TRY(auto endpoint, endpoint_from(row));
      endpoint.secret = opened(store_, workspace, endpoint.secret);
      out.push_back(std::move(endpoint));
      return {};
    });
    FOOTNOTE_CHECK(std::move(done));
    return out;
  });
}

Result<WebhookEndpoint> SqliteWebhookStore::add_endpoint(const CallContext& call, const WebhookEndpoint& endpoint) {
  FOOTNOTE_CHECK(check_webhook(endpoint));
  FOOTNOTE_TRY(const SecretBox box, store_.secrets());
  FOOTNOTE_TRY(const std::string sealed, box.seal(endpoint.secret, context_of(endpoint.workspace)));
  auto added = store_.write(call, [&](sql::Database& database) -> Result<WebhookEndpoint> {
    FOOTNOTE_TRY(auto count, database.prepare("SELECT count(*) FROM webhook_endpoints WHERE workspace_id = ?"));
    count.bind(endpoint.workspace.value);
    FOOTNOTE_CHECK(count.step());
    if (count.integer(0) >= static_cast<std::int64_t>(kWebhookEndpointsMax)) {
      return fail(ErrorCode::kResourceExhausted, "a workspace has at most {} webhooks", kWebhookEndpointsMax);
    }
    FOOTNOTE_TRY(auto insert, database.prepare("INSERT INTO webhook_endpoints (workspace_id, enabled, created_at, url, secret, events) "
                                               "VALUES (?, ?, ?, ?, ?, ?)"));
    insert.bind(endpoint.workspace.value, endpoint.enabled, to_row(store_.clock().now()), endpoint.url, sealed,
                to_stored_text(endpoint.events));
    FOOTNOTE_CHECK(insert.run());
    return read_endpoint(database, endpoint.workspace, {database.last_insert_id()});
  });
  if (added) added->secret = endpoint.secret;
  return added;
}

Result<WebhookEndpoint> SqliteWebhookStore::save_endpoint(const CallContext& call, const WebhookEndpoint& endpoint) {
  FOOTNOTE_CHECK(check_webhook(endpoint));
  auto saved = store_.write(call, [&](sql::Database& database) -> Result<WebhookEndpoint> {
    FOOTNOTE_TRY(auto update,
                 database.prepare("UPDATE webhook_endpoints SET url = ?, events = ?, enabled = ? WHERE id = ? AND workspace_id = ?"));
    update.bind(endpoint.url, to_stored_text(endpoint.events), endpoint.enabled, endpoint.id.value, endpoint.workspace.value);
    FOOTNOTE_CHECK(update.run());
    return read_endpoint(database, endpoint.workspace, endpoint.id);
  });
  if (saved) saved->secret = opened(store_, saved->workspace, saved->secret);
  return saved;
}

Result<void> SqliteWebhookStore::remove_endpoint(const CallContext& call, WorkspaceId workspace, WebhookId id) {
  return store_.write(call, [&](sql::Database& database) -> Result<void> {
    FOOTNOTE_TRY(auto erase, database.prepare("DELETE FROM webhook_endpoints WHERE id = ? AND workspace_id = ?"));
    erase.bind(id.value, workspace.value);
    FOOTNOTE_CHECK(erase.run());
    if (database.changed_rows() == 0) return no_endpoint(id);
    return {};
  });
}

Result<void> SqliteWebhookStore::enqueue(const CallContext& call, const WebhookNews& news) {
  return store_.write(call, [&](sql::Database& database) { return enqueue_webhooks(database, news); });
}

Result<std::vector<WebhookDelivery>> SqliteWebhookStore::due(const CallContext& call, UtcTime now, std::size_t per_endpoint) const {
  return with_secrets(store_.read(call, [&](sql::Database& database) -> Result<std::vector<WebhookDelivery>> {
    FOOTNOTE_TRY(auto list, database.prepare(R"sql(
      SELECT o.id, o.endpoint_id, e.url, e.secret, o.message_id, o.workspace_id, o.type, o.subject, o.happened_at, o.attempts, o.next_at,
             o.dead_at, o.last_error
      FROM webhook_endpoints e JOIN webhook_outbox o ON o.endpoint_id = e.id
      WHERE e.enabled AND o.id IN (SELECT i.id FROM webhook_outbox i WHERE i.endpoint_id = e.id AND i.dead_at IS NULL AND i.next_at <= ?1
                                   ORDER BY i.next_at, i.id LIMIT ?2)
      ORDER BY o.next_at, o.id)sql"));
    list.bind(to_row(now), limit_of(per_endpoint));
    return deliveries_of(std::move(list));
  }));
}

Result<void> SqliteWebhookStore::drop(const CallContext& call, DeliveryId id) {
  return store_.write(call, [&](sql::Database& database) -> Result<void> {
    FOOTNOTE_TRY(auto erase, database.prepare("DELETE FROM webhook_outbox WHERE id = ?"));
    erase.bind(id.value);
    return erase.run();
  });
}

Result<void> SqliteWebhookStore::postpone(const CallContext& call, DeliveryId id, std::string_view error, std::optional<UtcTime> next_at) {
  return store_.write(call, [&](sql::Database& database) -> Result<void> {
    FOOTNOTE_TRY(auto update,
                 database.prepare("UPDATE webhook_outbox SET attempts = attempts + 1, last_error = ?2, "
                                  "next_at = coalesce(?3, next_at), dead_at = CASE WHEN ?3 IS NULL THEN ?4 END WHERE id = ?1"));
    update.bind(id.value, utf8_prefix(repair_utf8(error), kErrorBytesMax), to_row(next_at), to_row(store_.clock().now()));
    return update.run();
  });
}

Result<std::vector<WebhookDelivery>> SqliteWebhookStore::dead(const CallContext& call, WorkspaceId workspace, std::size_t limit) const {
  return with_secrets(store_.read(call, [&](sql::Database& database) -> Result<std::vector<WebhookDelivery>> {
    FOOTNOTE_TRY(auto list, database.prepare(R"sql(
      SELECT o.id, o.endpoint_id, e.url, e.secret, o.message_id, o.workspace_id, o.type, o.subject, o.happened_at, o.attempts, o.next_at,
             o.dead_at, o.last_error
      FROM webhook_outbox o JOIN webhook_endpoints e ON e.id = o.endpoint_id
      WHERE o.workspace_id = ? AND o.dead_at IS NOT NULL ORDER BY o.id DESC LIMIT ?)sql"));
    list.bind(workspace.value, limit_of(limit));
    return deliveries_of(std::move(list));
  }));
}

Result<void> SqliteWebhookStore::revive(const CallContext& call, WorkspaceId workspace, DeliveryId id) {
  return store_.write(call, [&](sql::Database& database) -> Result<void> {
    FOOTNOTE_TRY(auto update, database.prepare("UPDATE webhook_outbox SET dead_at = NULL, attempts = 0, next_at = ? "
                                               "WHERE id = ? AND workspace_id = ? AND dead_at IS NOT NULL"));
    update.bind(to_row(store_.clock().now()), id.value, workspace.value);
    FOOTNOTE_CHECK(update.run());
    if (database.changed_rows() == 0) return fail(ErrorCode::kNotFound, "no message {} was given up", id.value);
    return {};
  });
}

}  // namespace footnote
