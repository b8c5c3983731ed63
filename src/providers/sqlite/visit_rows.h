#pragma once

#include "domain/conversation.h"
#include "engine/sql/database.h"

namespace footnote {

/// Writes the visitor's part of a turn, in finish_turn's transaction. `turn_sequence` is the turn's row. REQUIRES: the turn has a visit.
Result<void> insert_visit(sql::Database& database, const Turn& turn, std::int64_t turn_sequence, std::int64_t prompt_tokens,
                          std::int64_t completion_tokens);

/// Whether the turn's visitor was erased after it was asked. Also forgets erasures that are too old to affect any turn. REQUIRES: as above.
Result<bool> was_erased(sql::Database& database, const Turn& turn, UtcTime now);
/// Only the counting part of insert_visit.
Result<void> count_visit(sql::Database& database, const Turn& turn, std::int64_t prompt_tokens, std::int64_t completion_tokens);

/// Reads columns agent_id, visitor_id, rating, rating_reason, details from `first` on; nullopt if the turn has no visit.
Result<std::optional<Visit>> visit_from(const sql::Statement& row, int first);

/// "2026-03-01"
std::string day_of(UtcTime time);
/// The first of the last `days` days up to that of `now`.
std::string first_day_of(UtcTime now, std::size_t days);

/// Reads columns id, corpus_id, conversation_id, state, generation, latency_ms, asked_at, question, outcome, then those of visit_from.
Result<Turn> turn_from(const sql::Statement& row, WorkspaceId workspace);

}  // namespace footnote
