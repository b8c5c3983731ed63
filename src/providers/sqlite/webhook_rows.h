#pragma once

#include "domain/webhook.h"
#include "engine/sql/database.h"

namespace footnote {

/// Adds an event to the outbox, in the transaction of the change it reports.
Result<void> enqueue_webhooks(sql::Database& database, const WebhookNews& news);

}  // namespace footnote
