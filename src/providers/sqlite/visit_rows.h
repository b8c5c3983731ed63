#pragma once

#include "domain/conversation.h"
#include "engine/sql/database.h"

namespace footnote {

/// What finish_turn writes of a visitor's turn, in its transaction. `turn_sequence` is the row of the turn.
/// REQUIRES: the turn has a visit.
Result<void> insert_visit(sql::Database& database, const Turn& turn, std::int64_t turn_sequence, std::int64_t prompt_tokens,
                          std::int64_t completion_tokens);

/// Whether the turn's visitor was erased after it was asked. Forgets erasures that no turn can have been asked before. REQUIRES: as above.
Result<bool> was_erased(sql::Database& database, const Turn& turn, UtcTime now);
/// What insert_visit counts.
Result<void> count_visit(sql::Database& database, const Turn& turn, std::int64_t prompt_tokens, std::int64_t completion_tokens);

/// The columns of a turn's visit, from `first` on: agent_id, visitor_id, rating, rating_reason, details. None when there is no such row.
Result<std::optional<Visit>> visit_from(const sql::Statement& row, int first);

/// "2026-03-01"
std::string day_of(UtcTime time);
/// The first of the last `days` days up to the one of `now`.
std::string first_day_of(UtcTime now, std::size_t days);

/// Reads id, corpus_id, conversation_id, state, generation, latency_ms, asked_at, question, outcome and then what visit_from does.
Result<Turn> turn_from(const sql::Statement& row, WorkspaceId workspace);

}  // namespace footnote
