#pragma once

#include "domain/webhook.h"
#include "engine/sql/database.h"

namespace footnote {

/// Puts news into the outbox, in the transaction of what it tells of.
Result<void> enqueue_webhooks(sql::Database& database, const WebhookNews& news);

}  // namespace footnote
