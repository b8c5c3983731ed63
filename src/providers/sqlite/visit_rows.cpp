#include "providers/sqlite/visit_rows.h"

#include <algorithm>

#include "base/fold_words.h"
#include "base/sha256.h"
#include "base/text.h"
#include "providers/sqlite/agent_json.h"
#include "providers/sqlite/enum_names.h"
#include "providers/sqlite/outcome_json.h"
#include "providers/sqlite/rows.h"
#include "providers/sqlite/sqlite_conversation_store.h"
#include "providers/sqlite/webhook_rows.h"

namespace footnote {

namespace {

constexpr std::size_t kDayLength = std::string_view("2026-03-01").size();
constexpr std::size_t kDaysMax = 3660;

/// Questions that are equal after fold_words are one gap.
std::string question_hash(std::string_view question) {
  const std::string folded = fold_words(question);
  return sha256_hex(folded.empty() ? fold_spaces(question) : folded);
}

struct Asked {
  WorkspaceId workspace;
  AgentId agent;
  std::string_view question;
  UtcTime at;
};

/// The gap's row and its previous state.
struct GapBefore {
  std::int64_t id = 0;
  GapStatus status = GapStatus::kOpen;
};

Result<std::optional<GapBefore>> find_gap(sql::Database& database, const Asked& asked, const std::string& hash) {
  FOOTNOTE_TRY(auto find,
               database.prepare("SELECT id, status FROM agent_gaps WHERE workspace_id = ? AND agent_id = ? AND question_hash = ?"));
  find.bind(asked.workspace.value, asked.agent.value, hash);
  FOOTNOTE_TRY(const bool found, find.step());
  if (!found) return std::nullopt;
  FOOTNOTE_TRY(const GapStatus status, from_stored_name<GapStatus>(find.text(1)));
  return GapBefore{find.integer(0), status};
}

Result<std::int64_t> insert_gap(sql::Database& database, const Asked& asked, const std::string& hash, GapReason reason) {
  FOOTNOTE_TRY(auto insert, database.prepare(R"sql(
    INSERT INTO agent_gaps (workspace_id, agent_id, question_hash, reason, status, occurrences, first_seen_at, last_seen_at, question)
    VALUES (?1, ?2, ?3, ?4, ?5, 1, ?6, ?6, ?7))sql"));
  insert.bind(asked.workspace.value, asked.agent.value, hash, stored_name(reason), stored_name(GapStatus::kOpen), to_row(asked.at),
              asked.question);
  FOOTNOTE_CHECK(insert.run());
  return database.last_insert_id();
}

Result<void> count_gap(sql::Database& database, const GapBefore& gap, const Asked& asked, GapReason reason) {
  const GapStatus status = gap.status == GapStatus::kAnswered ? GapStatus::kOpen : gap.status;
  FOOTNOTE_TRY(auto update, database.prepare("UPDATE agent_gaps SET occurrences = occurrences + 1, reason = ?, status = ?, "
                                             "last_seen_at = max(last_seen_at, ?) WHERE id = ?"));
  update.bind(stored_name(reason), stored_name(status), to_row(asked.at), gap.id);
  return update.run();
}

/// Returns the gap's row.
Result<std::int64_t> roll_up(sql::Database& database, const Asked& asked, GapReason reason) {
  const std::string hash = question_hash(asked.question);
  FOOTNOTE_TRY(const auto before, find_gap(database, asked, hash));
  std::int64_t id = 0;
  if (before) {
    id = before->id;
    FOOTNOTE_CHECK(count_gap(database, *before, asked, reason));
  } else {
    FOOTNOTE_TRY(id, insert_gap(database, asked, hash, reason));
  }
  if (!before || before->status == GapStatus::kAnswered) {
    FOOTNOTE_CHECK(enqueue_webhooks(database, {asked.workspace, std::string(kGapOpened), std::to_string(id), asked.at}));
  }
  return id;
}

/// Reads id, workspace_id, agent_id, reason, status, occurrences, first_seen_at, last_seen_at, question.
Result<AgentGap> gap_from(const sql::Statement& row) {
  FOOTNOTE_TRY(const GapReason reason, from_stored_name<GapReason>(row.text(3)));
  FOOTNOTE_TRY(const GapStatus status, from_stored_name<GapStatus>(row.text(4)));
  return AgentGap{.id = {row.integer(0)},
                  .workspace = {row.integer(1)},
                  .agent = {std::string(row.text(2))},
                  .question = std::string(row.text(8)),
                  .reason = reason,
                  .status = status,
                  .occurrences = row.integer(5),
                  .first_seen_at = time_from(row.integer(6)),
                  .last_seen_at = time_from(row.integer(7))};
}

Result<AgentGap> read_gap(sql::Database& database, WorkspaceId workspace, GapId gap) {
  FOOTNOTE_TRY(auto find, database.prepare("SELECT id, workspace_id, agent_id, reason, status, occurrences, first_seen_at, last_seen_at, "
                                           "question FROM agent_gaps WHERE id = ? AND workspace_id = ?"));
  find.bind(gap.value, workspace.value);
  FOOTNOTE_TRY(const bool found, find.step());
  if (!found) return fail(ErrorCode::kNotFound, "there is no gap {}", gap.value);
  return gap_from(find);
}

/// A visit to be erased.
struct Doomed {
  std::int64_t turn = 0;
  std::string conversation;
  std::int64_t gap = 0;
};

/// Reads columns turn_sequence, conversation_id, gap_id.
Result<std::vector<Doomed>> doomed_of(sql::Statement list) {
  return list.collect<Doomed>([&](const sql::Statement& row) { return Doomed{row.integer(0), std::string(row.text(1)), row.integer(2)}; });
}

/// The gap's question was the erased visitor's: delete the gap, or take the wording of its oldest remaining turn.
Result<void> reword_or_delete_gap(sql::Database& database, std::int64_t gap) {
  FOOTNOTE_TRY(auto find, database.prepare("SELECT question FROM visits JOIN turns ON sequence = turn_sequence WHERE gap_id = ? "
                                           "ORDER BY sequence LIMIT 1"));
  find.bind(gap);
  FOOTNOTE_TRY(const bool asked, find.step());
  if (!asked) {
    FOOTNOTE_TRY(auto erase, database.prepare("DELETE FROM agent_gaps WHERE id = ?"));
    erase.bind(gap);
    return erase.run();
  }
  FOOTNOTE_TRY(auto update, database.prepare("UPDATE agent_gaps SET question = ? WHERE id = ?"));
  update.bind(find.text(0), gap);
  return update.run();
}

Result<std::size_t> erase_visits(sql::Database& database, WorkspaceId workspace, const std::vector<Doomed>& doomed) {
  for (const Doomed& visit : doomed) {
    FOOTNOTE_TRY(auto erase, database.prepare("DELETE FROM turns WHERE sequence = ?"));
    erase.bind(visit.turn);
    FOOTNOTE_CHECK(erase.run());
  }
  for (const Doomed& visit : doomed) {
    FOOTNOTE_TRY(auto erase, database.prepare("DELETE FROM conversations WHERE workspace_id = ?1 AND id = ?2 AND NOT EXISTS "
                                              "(SELECT 1 FROM turns WHERE workspace_id = ?1 AND conversation_id = ?2)"));
    erase.bind(workspace.value, visit.conversation);
    FOOTNOTE_CHECK(erase.run());
    if (visit.gap != 0) FOOTNOTE_CHECK(reword_or_delete_gap(database, visit.gap));
  }
  return doomed.size();
}

}  // namespace

std::string day_of(UtcTime time) { return to_rfc3339(time).substr(0, kDayLength); }

std::string first_day_of(UtcTime now, std::size_t days) {
  return day_of(now - std::chrono::days{static_cast<int>(std::min(days, kDaysMax)) - 1});
}

Result<std::optional<Visit>> visit_from(const sql::Statement& row, int first) {
  if (row.is_null(first)) return std::nullopt;
  FOOTNOTE_TRY(Visit visit, visit_from_stored_text(row.text(first + 4)));
  visit.agent = {std::string(row.text(first))};
  visit.visitor = {std::string(row.text(first + 1))};
  if (!row.is_null(first + 2)) {
    FOOTNOTE_TRY(const Rating rating, from_stored_name<Rating>(row.text(first + 2)));
    visit.feedback = Feedback{rating, std::string(row.text(first + 3))};
  }
  return visit;
}

Result<Turn> turn_from(const sql::Statement& row, WorkspaceId workspace) {
  FOOTNOTE_TRY(const auto state, from_stored_name<TurnState>(row.text(3)));
  FOOTNOTE_TRY(auto outcome, outcome_from_stored_text(row.text(8)));
  FOOTNOTE_TRY(auto visit, visit_from(row, 9));
  return Turn{.id = {std::string(row.text(0))},
              .workspace = workspace,
              .corpus = {row.integer(1)},
              .conversation = {std::string(row.text(2))},
              .question = std::string(row.text(7)),
              .outcome = std::move(outcome),
              .state = state,
              .generation = row.integer(4),
              .latency = std::chrono::milliseconds{row.integer(5)},
              .asked_at = time_from(row.integer(6)),
              .visit = std::move(visit)};
}

Result<void> count_visit(sql::Database& database, const Turn& turn, std::int64_t prompt_tokens, std::int64_t completion_tokens) {
  FOOTNOTE_TRY(auto count, database.prepare(R"sql(
    INSERT INTO agent_usage_days (workspace_id, agent_id, day, turns, curated, refused, prompt_tokens, completion_tokens)
    VALUES (?, ?, ?, 1, ?, ?, ?, ?)
    ON CONFLICT (workspace_id, agent_id, day) DO UPDATE SET
      turns = turns + 1, curated = curated + excluded.curated, refused = refused + excluded.refused,
      prompt_tokens = prompt_tokens + excluded.prompt_tokens,
      completion_tokens = completion_tokens + excluded.completion_tokens)sql"));
  count.bind(turn.workspace.value, turn.visit->agent.value, day_of(turn.asked_at), turn.visit->curated,
             std::holds_alternative<Refusal>(turn.outcome), prompt_tokens, completion_tokens);
  return count.run();
}

Result<bool> was_erased(sql::Database& database, const Turn& turn, UtcTime now) {
  FOOTNOTE_TRY(auto forget, database.prepare("DELETE FROM erasures WHERE erased_at < ?"));
  forget.bind(to_row(now - kErasureKept));
  FOOTNOTE_CHECK(forget.run());
  FOOTNOTE_TRY(auto find, database.prepare("SELECT 1 FROM erasures WHERE workspace_id = ? AND visitor_id = ? AND erased_at >= ?"));
  find.bind(turn.workspace.value, turn.visit->visitor.value, to_row(turn.asked_at));
  return find.step();
}

Result<void> insert_visit(sql::Database& database, const Turn& turn, std::int64_t turn_sequence, std::int64_t prompt_tokens,
                          std::int64_t completion_tokens) {
  const Visit& visit = *turn.visit;
  std::optional<std::int64_t> gap;
  if (!visit.playground) {
    FOOTNOTE_CHECK(count_visit(database, turn, prompt_tokens, completion_tokens));
    if (visit.gap) {
      FOOTNOTE_TRY(gap, roll_up(database, {turn.workspace, visit.agent, turn.question, turn.asked_at}, *visit.gap));
    }
    FOOTNOTE_CHECK(enqueue_webhooks(database, {turn.workspace, std::string(kTurnCompleted), turn.id.value, turn.asked_at}));
  }
  FOOTNOTE_TRY(auto insert, database.prepare("INSERT INTO visits (turn_sequence, workspace_id, agent_id, visitor_id, asked_at, gap_id, "
                                             "details) VALUES (?, ?, ?, ?, ?, ?, ?)"));
  insert.bind(turn_sequence, turn.workspace.value, visit.agent.value, visit.visitor.value, to_row(turn.asked_at), gap,
              to_stored_text(visit));
  return insert.run();
}

Result<void> SqliteConversationStore::rate_turn(const CallContext& call, WorkspaceId workspace, const VisitorId& visitor,
                                                const TurnId& turn, const Feedback& feedback) {
  FOOTNOTE_CHECK(check_feedback(feedback));
  return store_.write(call, [&](sql::Database& database) -> Result<void> {
    FOOTNOTE_TRY(auto find, database.prepare("SELECT sequence, agent_id, gap_id, question, details FROM turns "
                                             "JOIN visits ON turn_sequence = sequence "
                                             "WHERE turns.workspace_id = ? AND id = ? AND visitor_id = ?"));
    find.bind(workspace.value, turn.value, visitor.value);
    FOOTNOTE_TRY(const bool found, find.step());
    if (!found) return fail(ErrorCode::kNotFound, "there is no turn '{}'", turn.value);
    FOOTNOTE_TRY(const Visit visit, visit_from_stored_text(find.text(4)));
    std::optional<std::int64_t> gap = find.optional_integer(2);
    if (feedback.rating == Rating::kDown && !gap && !visit.playground) {
      const Asked asked{workspace, {std::string(find.text(1))}, find.text(3), store_.clock().now()};
      FOOTNOTE_TRY(gap, roll_up(database, asked, GapReason::kDownVote));
    }
    FOOTNOTE_TRY(auto update, database.prepare("UPDATE visits SET rating = ?, rating_reason = ?, gap_id = ? WHERE turn_sequence = ?"));
    update.bind(stored_name(feedback.rating), feedback.reason, gap, find.integer(0));
    return update.run();
  });
}

Result<std::vector<AgentGap>> SqliteConversationStore::agent_gaps(const CallContext& call, WorkspaceId workspace, const AgentId& agent,
                                                                  std::optional<GapStatus> status, std::size_t limit) const {
  return store_.read(call, [&](sql::Database& database) -> Result<std::vector<AgentGap>> {
    FOOTNOTE_TRY(auto list, database.prepare(R"sql(
      SELECT id, workspace_id, agent_id, reason, status, occurrences, first_seen_at, last_seen_at, question FROM agent_gaps
      WHERE workspace_id = ?1 AND agent_id = ?2 AND (?3 IS NULL OR status = ?3)
      ORDER BY occurrences DESC, last_seen_at DESC, id LIMIT ?4)sql"));
    const auto name = status ? std::optional(stored_name(*status)) : std::nullopt;
    list.bind(workspace.value, agent.value, name, limit_of(limit));
    return list.collect<AgentGap>([&](const sql::Statement& row) { return gap_from(row); });
  });
}

Result<AgentGap> SqliteConversationStore::agent_gap(const CallContext& call, WorkspaceId workspace, GapId gap) const {
  return store_.read(call, [&](sql::Database& database) { return read_gap(database, workspace, gap); });
}

Result<AgentGap> SqliteConversationStore::set_gap_status(const CallContext& call, WorkspaceId workspace, GapId gap, GapStatus status) {
  return store_.write(call, [&](sql::Database& database) -> Result<AgentGap> {
    FOOTNOTE_TRY(auto update, database.prepare("UPDATE agent_gaps SET status = ? WHERE id = ? AND workspace_id = ?"));
    update.bind(stored_name(status), gap.value, workspace.value);
    FOOTNOTE_CHECK(update.run());
    return read_gap(database, workspace, gap);
  });
}

Result<std::vector<AgentUsageDay>> SqliteConversationStore::agent_usage(const CallContext& call, WorkspaceId workspace,
                                                                        const AgentId& agent, std::size_t days) const {
  const std::string first = first_day_of(store_.clock().now(), days);
  return store_.read(call, [&](sql::Database& database) -> Result<std::vector<AgentUsageDay>> {
    FOOTNOTE_TRY(auto list, database.prepare("SELECT day, turns, curated, refused, prompt_tokens, completion_tokens FROM agent_usage_days "
                                             "WHERE workspace_id = ? AND agent_id = ? AND day >= ? ORDER BY day"));
    list.bind(workspace.value, agent.value, first);
    return list.collect<AgentUsageDay>([&](const sql::Statement& row) {
      return AgentUsageDay{std::string(row.text(0)), row.integer(1), row.integer(2), row.integer(3), row.integer(4), row.integer(5)};
    });
  });
}

Result<std::vector<Turn>> SqliteConversationStore::visitor_turns(const CallContext& call, WorkspaceId workspace,
                                                                 const VisitorId& visitor) const {
  return store_.read(call, [&](sql::Database& database) -> Result<std::vector<Turn>> {
    FOOTNOTE_TRY(auto list, database.prepare(R"sql(
      SELECT t.id, corpus_id, conversation_id, state, generation, latency_ms, t.asked_at, question, outcome,
             agent_id, visitor_id, rating, rating_reason, details
      FROM visits v JOIN turns t ON sequence = turn_sequence
      WHERE v.workspace_id = ? AND visitor_id = ? ORDER BY turn_sequence)sql"));
    list.bind(workspace.value, visitor.value);
    return list.collect<Turn>([&](const sql::Statement& row) { return turn_from(row, workspace); });
  });
}

Result<std::size_t> SqliteConversationStore::erase_visitor(const CallContext& call, WorkspaceId workspace, const VisitorId& visitor) {
  return store_.write(call, [&](sql::Database& database) -> Result<std::size_t> {
    FOOTNOTE_TRY(auto list, database.prepare("SELECT turn_sequence, conversation_id, gap_id FROM visits v JOIN turns ON sequence = "
                                             "turn_sequence WHERE v.workspace_id = ? AND visitor_id = ?"));
    list.bind(workspace.value, visitor.value);
    FOOTNOTE_TRY(const auto doomed, doomed_of(std::move(list)));
    // An answer may be in progress: its turn must not be stored when it ends.
    FOOTNOTE_TRY(auto remember, database.prepare("INSERT INTO erasures (workspace_id, visitor_id, erased_at) VALUES (?, ?, ?) "
                                                 "ON CONFLICT DO UPDATE SET erased_at = excluded.erased_at"));
    remember.bind(workspace.value, visitor.value, to_row(store_.clock().now()));
    FOOTNOTE_CHECK(remember.run());
    return erase_visits(database, workspace, doomed);
  });
}

Result<std::size_t> SqliteConversationStore::erase_turns(const CallContext& call, WorkspaceId workspace, const AgentId& agent,
                                                         UtcTime before, std::size_t limit) {
  return store_.write(call, [&](sql::Database& database) -> Result<std::size_t> {
    FOOTNOTE_TRY(auto list, database.prepare("SELECT turn_sequence, conversation_id, gap_id FROM visits v JOIN turns ON sequence = "
                                             "turn_sequence WHERE v.workspace_id = ? AND agent_id = ? AND v.asked_at < ? "
                                             "ORDER BY v.asked_at LIMIT ?"));
    list.bind(workspace.value, agent.value, to_row(before), limit_of(limit));
    FOOTNOTE_TRY(const auto doomed, doomed_of(std::move(list)));
    FOOTNOTE_TRY(const std::size_t erased, erase_visits(database, workspace, doomed));
    FOOTNOTE_TRY(auto gaps, database.prepare("DELETE FROM agent_gaps WHERE workspace_id = ? AND agent_id = ? AND last_seen_at < ?"));
    gaps.bind(workspace.value, agent.value, to_row(before));
    FOOTNOTE_CHECK(gaps.run());
    return erased;
  });
}

}  // namespace footnote
