#pragma once

#include "domain/webhook.h"
#include "engine/sql/database.h"

namespace footnote {

/// Adds an event to the outbox, in the transaction of the change it reports.
Result<void> enqueue_webhooks(sql::Database& database, const WebhookNews& news);

/// Encrypts secrets that an older version stored unencrypted. Opens the key file only if there are any.
Result<void> seal_webhook_secrets(sql::Database& database, const std::filesystem::path& key_file);

}  // namespace footnote
