#include "providers/sqlite/sqlite_event_sink.h"

#include "providers/sqlite/event_rows.h"
#include "providers/sqlite/rows.h"

namespace footnote {

namespace {

/// The limit is checked once per this many events.
constexpr std::int64_t kEventsBetweenTrims = 256;

Result<void> check_corpus(sql::Database& database, const Event& event) {
  if (!event.corpus) return {};
  FOOTNOTE_TRY(const auto row, read_corpus(database, event.corpus));
  if (row.corpus.workspace == event.workspace) return {};
  return fail(ErrorCode::kNotFound, "there is no corpus {}", event.corpus.value);
}

Result<void> trim(sql::Database& database, WorkspaceId workspace) {
  FOOTNOTE_TRY(auto erase, database.prepare(R"sql(
    DELETE FROM events WHERE workspace_id = ?1 AND id <=
      (SELECT id FROM events WHERE workspace_id = ?1 ORDER BY id DESC LIMIT 1 OFFSET ?2))sql"));
  erase.bind(workspace.value, SqliteEventSink::kEventsKeptMax);
  return erase.run();
}

}  // namespace

Result<void> insert_event(sql::Database& database, const Event& event) {
  FOOTNOTE_CHECK(check_corpus(database, event));
  FOOTNOTE_TRY(auto insert,
               database.prepare("INSERT INTO events (workspace_id, corpus_id, type, happened_at, payload) VALUES (?, ?, ?, ?, ?)"));
  insert.bind(event.workspace.value, to_row(event.corpus), event.type, to_row(event.happened_at), event.payload);
  FOOTNOTE_CHECK(insert.run());
  if (database.last_insert_id() % kEventsBetweenTrims == 0) return trim(database, event.workspace);
  return {};
}

Result<void> SqliteEventSink::append(const CallContext& call, const Event& event) {
  return store_.write(call, [&](sql::Database& database) { return insert_event(database, event); });
}

Result<std::vector<Event>> SqliteEventSink::after(const CallContext& call, WorkspaceId workspace, CorpusId corpus, EventId after,
                                                  std::size_t limit) const {
  return store_.read(call, [&](sql::Database& database) -> Result<std::vector<Event>> {
    const auto prepared = [&]() -> Result<sql::Statement> {
      if (!corpus) {
        FOOTNOTE_TRY(auto all, database.prepare("SELECT id, corpus_id, type, happened_at, payload FROM events "
                                                "WHERE workspace_id = ? AND id > ? ORDER BY id LIMIT ?"));
        all.bind(workspace.value, after.value, limit_of(limit));
        return all;
      }
      FOOTNOTE_TRY(auto one, database.prepare("SELECT id, corpus_id, type, happened_at, payload FROM events "
                                              "WHERE workspace_id = ? AND corpus_id = ? AND id > ? ORDER BY id LIMIT ?"));
      one.bind(workspace.value, corpus.value, after.value, limit_of(limit));
      return one;
    };
    FOOTNOTE_TRY(auto list, prepared());
    return list.collect<Event>([&](const sql::Statement& row) {
      return Event{.id = {row.integer(0)},
                   .workspace = workspace,
                   .corpus = {row.integer(1)},
                   .type = std::string(row.text(2)),
                   .payload = std::string(row.text(4)),
                   .happened_at = time_from(row.integer(3))};
    });
  });
}

}  // namespace footnote
