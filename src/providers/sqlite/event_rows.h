#pragma once

#include "domain/conversation.h"
#include "engine/sql/database.h"

namespace footnote {

/// Adds an event in the caller's transaction. kNotFound: its corpus is not in its workspace.
Result<void> insert_event(sql::Database& database, const Event& event);

}  // namespace footnote
