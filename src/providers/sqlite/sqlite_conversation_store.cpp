#include "providers/sqlite/sqlite_conversation_store.h"

#include <algorithm>

#include "base/json.h"
#include "base/sha256.h"
#include "base/text.h"
#include "domain/webhook.h"
#include "providers/sqlite/enum_names.h"
#include "providers/sqlite/event_rows.h"
#include "providers/sqlite/outcome_json.h"
#include "providers/sqlite/rows.h"
#include "providers/sqlite/visit_rows.h"

namespace footnote {

namespace {

Result<void> check_corpus(sql::Database& database, const Turn& turn) {
  FOOTNOTE_TRY(const auto row, read_corpus(database, turn.corpus));
  if (row.corpus.workspace == turn.workspace) return {};
  return fail(ErrorCode::kNotFound, "there is no corpus {}", turn.corpus.value);
}

/// Returns the turn's row.
Result<std::int64_t> insert_turn(sql::Database& database, const Turn& turn) {
  std::optional<std::string> conversation;
  if (turn.conversation) {
    conversation = turn.conversation.value;
    FOOTNOTE_TRY(auto ensure,
                 database.prepare("INSERT INTO conversations (workspace_id, id, created_at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING"));
    ensure.bind(turn.workspace.value, *conversation, to_row(turn.asked_at));
    FOOTNOTE_CHECK(ensure.run());
  }
  FOOTNOTE_TRY(auto insert, database.prepare(R"sql(
    INSERT INTO turns (workspace_id, id, corpus_id, conversation_id, state, generation, latency_ms, asked_at, question, outcome)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?))sql"));
  insert.bind(turn.workspace.value, turn.id.value, turn.corpus.value, conversation, stored_name(turn.state), turn.generation,
              turn.latency.count(), to_row(turn.asked_at), turn.question, to_stored_text(turn.outcome));
  FOOTNOTE_CHECK(insert.run());
  return database.last_insert_id();
}

/// Traces deleted with one new turn. Above 1, so that a lowered limit is reached; small, so that no turn pays for all of them.
constexpr std::int64_t kTracesDroppedAtOnce = 8;

Result<void> drop_old_traces(sql::Database& database, std::int64_t turn_sequence, std::size_t kept_max) {
  FOOTNOTE_TRY(auto drop, database.prepare("DELETE FROM turn_traces WHERE turn_sequence IN (SELECT turn_sequence FROM turn_traces "
                                           "WHERE turn_sequence <= ? ORDER BY turn_sequence LIMIT ?)"));
  drop.bind(turn_sequence - static_cast<std::int64_t>(kept_max), kTracesDroppedAtOnce);
  return drop.run();
}

/// The pages of dropped traces take up the new one: at the limit the file no longer grows by traces.
Result<void> insert_trace(sql::Database& database, std::int64_t turn_sequence, std::string_view trace, std::size_t kept_max) {
  FOOTNOTE_CHECK(drop_old_traces(database, turn_sequence, kept_max));
  if (trace.empty() || kept_max == 0) return {};
  FOOTNOTE_TRY(auto insert, database.prepare("INSERT INTO turn_traces (turn_sequence, trace) VALUES (?, ?)"));
  insert.bind(turn_sequence, trace);
  return insert.run();
}

Result<void> count_usage(sql::Database& database, const Turn& turn, std::int64_t prompt_tokens, std::int64_t completion_tokens) {
  FOOTNOTE_TRY(auto count, database.prepare(R"sql(
    INSERT INTO usage_days (workspace_id, day, questions, answers, refusals, prompt_tokens, completion_tokens)
    VALUES (?, ?, 1, ?, ?, ?, ?)
    ON CONFLICT (workspace_id, day) DO UPDATE SET
      questions = questions + 1, answers = answers + excluded.answers, refusals = refusals + excluded.refusals,
      prompt_tokens = prompt_tokens + excluded.prompt_tokens,
      completion_tokens = completion_tokens + excluded.completion_tokens)sql"));
  count.bind(turn.workspace.value, day_of(turn.asked_at), std::holds_alternative<Answer>(turn.outcome),
             std::holds_alternative<Refusal>(turn.outcome), prompt_tokens, completion_tokens);
  return count.run();
}

/// Contains the turn's id but none of its text, so that nothing needs to be erased here.
Event completed_event(const Turn& turn) {
  return {.id = {},
          .workspace = turn.workspace,
          .corpus = turn.corpus,
          .type = std::string(kTurnCompleted),
          .payload = to_text(JsonObject{{"turn_id", turn.id.value}}),
          .happened_at = turn.asked_at + turn.latency};
}

/// A question that was refused, or reported.
struct Unanswered {
  WorkspaceId workspace;
  CorpusId corpus;
  std::string_view question;
  GapReason reason = GapReason::kNoRelevantContext;
  UtcTime at;
};

/// A repeated question reopens its gap. Returns the gap's row.
Result<std::int64_t> roll_up_gap(sql::Database& database, const Unanswered& asked) {
  FOOTNOTE_TRY(auto roll_up, database.prepare(R"sql(
    INSERT INTO gaps (workspace_id, corpus_id, question_hash, reason, question, occurrences, first_seen_at, last_seen_at)
    VALUES (?1, ?2, ?3, ?4, ?5, 1, ?6, ?6)
    ON CONFLICT (workspace_id, corpus_id, question_hash, reason) DO UPDATE SET
      occurrences = occurrences + 1, last_seen_at = max(last_seen_at, excluded.last_seen_at), resolved_at = NULL
    RETURNING id)sql"));
  roll_up.bind(asked.workspace.value, asked.corpus.value, sha256_hex(normalise_question(asked.question)), stored_name(asked.reason),
               asked.question, to_row(asked.at));
  FOOTNOTE_TRY(const bool stored, roll_up.step());
  const std::int64_t id = stored ? roll_up.integer(0) : 0;
  FOOTNOTE_CHECK(roll_up.run());
  return id;
}

/// Reads id, workspace_id, corpus_id, question, reason, occurrences, first_seen_at, last_seen_at, resolved_at.
Result<Gap> content_gap_from(const sql::Statement& row) {
  FOOTNOTE_TRY(const auto reason, from_stored_name<GapReason>(row.text(4)));
  return Gap{.id = {row.integer(0)},
             .workspace = {row.integer(1)},
             .corpus = {row.integer(2)},
             .question = std::string(row.text(3)),
             .reason = reason,
             .occurrences = row.integer(5),
             .first_seen_at = time_from(row.integer(6)),
             .last_seen_at = time_from(row.integer(7)),
             .resolved_at = time_from(row.optional_integer(8))};
}

Result<Gap> read_content_gap(sql::Database& database, WorkspaceId workspace, std::int64_t id) {
  FOOTNOTE_TRY(auto find, database.prepare("SELECT id, workspace_id, corpus_id, question, reason, occurrences, first_seen_at, "
                                           "last_seen_at, resolved_at FROM gaps WHERE id = ? AND workspace_id = ?"));
  find.bind(id, workspace.value);
  FOOTNOTE_TRY(const bool found, find.step());
  if (!found) return fail(ErrorCode::kNotFound, "there is no gap {}", id);
  return content_gap_from(find);
}

}  // namespace

std::string normalise_question(std::string_view question) {
  std::string out = fold_spaces(to_lower_ascii(question));
  while (!out.empty() && std::string_view("?!. ").find(out.back()) != std::string_view::npos) out.pop_back();
  return out;
}

Result<void> SqliteConversationStore::finish_turn(const CallContext& call, const Turn& turn, std::int64_t prompt_tokens,
                                                  std::int64_t completion_tokens, std::string_view trace) {
  if (!turn.id) return fail_field(ErrorCode::kInvalidArgument, "id", "a turn needs an id");
  if (trace.size() > kTurnTraceBytesMax) {
    return fail(ErrorCode::kTooLarge, "the turn's trace is over the limit of {} bytes", kTurnTraceBytesMax);
  }
  return store_.write(call, [&](sql::Database& database) -> Result<void> {
    FOOTNOTE_CHECK(check_corpus(database, turn));
    if (turn.visit) {
      FOOTNOTE_TRY(const bool erased, was_erased(database, turn, store_.clock().now()));
      if (erased && turn.visit->playground) return {};
      if (erased) {
        FOOTNOTE_CHECK(count_visit(database, turn, prompt_tokens, completion_tokens));
        return count_usage(database, turn, prompt_tokens, completion_tokens);
      }
    }
    FOOTNOTE_TRY(const std::int64_t sequence, insert_turn(database, turn));
    FOOTNOTE_CHECK(insert_trace(database, sequence, trace, store_.options().turn_traces_max));
    if (turn.visit) FOOTNOTE_CHECK(insert_visit(database, turn, sequence, prompt_tokens, completion_tokens));
    if (turn.visit && turn.visit->playground) return {};
    FOOTNOTE_CHECK(count_usage(database, turn, prompt_tokens, completion_tokens));
    FOOTNOTE_CHECK(insert_event(database, completed_event(turn)));
    if (turn.visit) return {};
    const auto* refusal = std::get_if<Refusal>(&turn.outcome);
    const auto reason = refusal == nullptr ? std::nullopt : gap_of(refusal->reason);
    if (reason) FOOTNOTE_CHECK(roll_up_gap(database, {turn.workspace, turn.corpus, turn.question, *reason, turn.asked_at}));
    return {};
  });
}

Result<Turn> SqliteConversationStore::turn(const CallContext& call, WorkspaceId workspace, const TurnId& id) const {
  return store_.read(call, [&](sql::Database& database) -> Result<Turn> {
    FOOTNOTE_TRY(auto find,
                 database.prepare("SELECT id, corpus_id, conversation_id, state, generation, latency_ms, t.asked_at, question, outcome, "
                                  "agent_id, visitor_id, rating, rating_reason, details "
                                  "FROM turns t LEFT JOIN visits ON turn_sequence = sequence WHERE t.workspace_id = ? AND id = ?"));
    find.bind(workspace.value, id.value);
    FOOTNOTE_TRY(const bool found, find.step());
    if (!found) return fail(ErrorCode::kNotFound, "there is no turn '{}'", id.value);
    return turn_from(find, workspace);
  });
}

Result<std::string> SqliteConversationStore::trace(const CallContext& call, WorkspaceId workspace, const TurnId& id) const {
  return store_.read(call, [&](sql::Database& database) -> Result<std::string> {
    FOOTNOTE_TRY(auto find, database.prepare("SELECT trace FROM turns JOIN turn_traces ON turn_sequence = sequence "
                                             "WHERE workspace_id = ? AND id = ?"));
    find.bind(workspace.value, id.value);
    FOOTNOTE_TRY(const bool found, find.step());
    if (!found)
      return fail(ErrorCode::kNotFound, "there is no trace of a turn '{}'; only the latest {} are kept (answer.traces)", id.value,
                  store_.options().turn_traces_max);
    return std::string(find.text(0));
  });
}

Result<std::vector<Turn>> SqliteConversationStore::history(const CallContext& call, WorkspaceId workspace, const ConversationId& id,
                                                           std::size_t limit) const {
  return store_.read(call, [&](sql::Database& database) -> Result<std::vector<Turn>> {
    FOOTNOTE_TRY(auto find, database.prepare("SELECT 1 FROM conversations WHERE workspace_id = ? AND id = ?"));
    find.bind(workspace.value, id.value);
    FOOTNOTE_TRY(const bool found, find.step());
    if (!found) return fail(ErrorCode::kNotFound, "there is no conversation '{}'", id.value);
    FOOTNOTE_TRY(auto list,
                 database.prepare("SELECT id, corpus_id, conversation_id, state, generation, latency_ms, t.asked_at, question, outcome, "
                                  "agent_id, visitor_id, rating, rating_reason, details "
                                  "FROM turns t LEFT JOIN visits ON turn_sequence = sequence "
                                  "WHERE t.workspace_id = ? AND conversation_id = ? ORDER BY sequence DESC LIMIT ?"));
    list.bind(workspace.value, id.value, limit_of(limit));
    FOOTNOTE_TRY(auto out, list.collect<Turn>([&](const sql::Statement& row) { return turn_from(row, workspace); }));
    std::ranges::reverse(out);
    return out;
  });
}

Result<std::vector<Gap>> SqliteConversationStore::gaps(const CallContext& call, CorpusId corpus, std::size_t limit) const {
  return store_.read(call, [&](sql::Database& database) -> Result<std::vector<Gap>> {
    FOOTNOTE_CHECK(read_corpus(database, corpus));
    FOOTNOTE_TRY(auto list, database.prepare(R"sql(
      SELECT id, workspace_id, corpus_id, question, reason, occurrences, first_seen_at, last_seen_at, resolved_at
      FROM gaps WHERE corpus_id = ? AND resolved_at IS NULL
      ORDER BY occurrences DESC, last_seen_at DESC, id LIMIT ?)sql"));
    list.bind(corpus.value, limit_of(limit));
    return list.collect<Gap>(content_gap_from);
  });
}

Result<std::vector<Gap>> SqliteConversationStore::content_gaps(const CallContext& call, const GapQuery& query) const {
  JsonArray corpora;
  for (const CorpusId corpus : query.corpora) corpora.emplace_back(corpus.value);
  return store_.read(call, [&](sql::Database& database) -> Result<std::vector<Gap>> {
    FOOTNOTE_TRY(auto list, database.prepare(R"sql(
      SELECT id, workspace_id, corpus_id, question, reason, occurrences, first_seen_at, last_seen_at, resolved_at
      FROM gaps WHERE workspace_id = ?1 AND (?2 OR corpus_id IN (SELECT value FROM json_each(?3)))
        AND (?4 IS NULL OR reason = ?4) AND (?5 OR resolved_at IS NULL)
      ORDER BY occurrences DESC, last_seen_at DESC, id LIMIT ?6)sql"));
    const std::optional<std::string_view> reason = query.reason ? std::optional(stored_name(*query.reason)) : std::nullopt;
    list.bind(query.workspace.value, query.corpora.empty(), to_text(corpora), reason, query.include_resolved, limit_of(query.limit));
    return list.collect<Gap>(content_gap_from);
  });
}

Result<Gap> SqliteConversationStore::resolve_gap(const CallContext& call, WorkspaceId workspace, GapId gap, UtcTime at) {
  return store_.write(call, [&](sql::Database& database) -> Result<Gap> {
    FOOTNOTE_TRY(auto update, database.prepare("UPDATE gaps SET resolved_at = ? WHERE id = ? AND workspace_id = ?"));
    update.bind(to_row(at), gap.value, workspace.value);
    FOOTNOTE_CHECK(update.run());
    return read_content_gap(database, workspace, gap.value);
  });
}

Result<Gap> SqliteConversationStore::report_gap(const CallContext& call, WorkspaceId workspace, CorpusId corpus, std::string_view question,
                                                GapReason reason, UtcTime at) {
  return store_.write(call, [&](sql::Database& database) -> Result<Gap> {
    FOOTNOTE_TRY(const auto row, read_corpus(database, corpus));
    if (row.corpus.workspace != workspace) return fail(ErrorCode::kNotFound, "there is no corpus {}", corpus.value);
    FOOTNOTE_TRY(const std::int64_t id, roll_up_gap(database, {workspace, corpus, question, reason, at}));
    return read_content_gap(database, workspace, id);
  });
}

Result<std::vector<UsageDay>> SqliteConversationStore::usage(const CallContext& call, WorkspaceId workspace, std::size_t days) const {
  const std::string first = first_day_of(store_.clock().now(), days);
  return store_.read(call, [&](sql::Database& database) -> Result<std::vector<UsageDay>> {
    FOOTNOTE_TRY(auto list, database.prepare("SELECT day, questions, answers, refusals, prompt_tokens, completion_tokens FROM usage_days "
                                             "WHERE workspace_id = ? AND day >= ? ORDER BY day"));
    list.bind(workspace.value, first);
    return list.collect<UsageDay>([&](const sql::Statement& row) {
      return UsageDay{std::string(row.text(0)), row.integer(1), row.integer(2), row.integer(3), row.integer(4), row.integer(5)};
    });
  });
}

}  // namespace footnote
