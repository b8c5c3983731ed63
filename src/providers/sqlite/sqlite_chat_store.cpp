#include "providers/sqlite/sqlite_chat_store.h"

#include <algorithm>

#include "base/text.h"
#include "base/utf8.h"
#include "providers/sqlite/enum_names.h"
#include "providers/sqlite/rows.h"
#include "providers/sqlite/stored_json.h"

namespace footnote {

namespace {

std::unexpected<Error> no_chat(const ConversationId& id) { return fail(ErrorCode::kNotFound, "there is no conversation '{}'", id.value); }

std::optional<std::string> none_if_empty(const std::string& text) { return text.empty() ? std::nullopt : std::optional(text); }

/// Reads id, owner, created_at, updated_at, active_leaf, messages, title, project_keys.
Result<Chat> chat_from(const sql::Statement& row, WorkspaceId workspace) {
  FOOTNOTE_TRY(auto project_keys, texts_from_stored_text(row.text(7)));
  return Chat{.id = {std::string(row.text(0))},
              .workspace = workspace,
              .owner = std::string(row.text(1)),
              .title = std::string(row.text(6)),
              .project_keys = std::move(project_keys),
              .created_at = time_from(row.integer(2)),
              .updated_at = time_from(row.integer(3)),
              .active_leaf = std::string(row.text(4)),
              .messages = row.integer(5)};
}

Result<Chat> read_chat(sql::Database& database, WorkspaceId workspace, const ConversationId& id) {
  FOOTNOTE_TRY(auto find, database.prepare("SELECT id, owner, created_at, updated_at, active_leaf, messages, title, project_keys "
                                           "FROM chats WHERE workspace_id = ? AND id = ?"));
  find.bind(workspace.value, id.value);
  FOOTNOTE_TRY(const bool found, find.step());
  if (!found) return no_chat(id);
  return chat_from(find, workspace);
}

/// Reads id, parent_id, role, created_at, turn_id, text, meta, rating, comment.
Result<ChatNode> node_from(const sql::Statement& row) {
  ChatNode out{.id = std::string(row.text(0)),
               .parent = std::string(row.text(1)),
               .role = row.text(2) == "assistant" ? MessageRole::kAssistant : MessageRole::kUser,
               .text = std::string(row.text(5)),
               .created_at = time_from(row.integer(3)),
               .turn = {std::string(row.text(4))},
               .meta = std::string(row.text(6))};
  if (!row.is_null(7)) {
    FOOTNOTE_TRY(const Rating rating, from_stored_name<Rating>(row.text(7)));
    out.feedback = Feedback{rating, std::string(row.text(8))};
  }
  return out;
}

Result<bool> has_message(sql::Database& database, WorkspaceId workspace, const ConversationId& chat, std::string_view id) {
  FOOTNOTE_TRY(auto find, database.prepare("SELECT 1 FROM chat_messages WHERE workspace_id = ? AND chat_id = ? AND id = ?"));
  find.bind(workspace.value, chat.value, id);
  return find.step();
}

Result<void> delete_chat(sql::Database& database, std::int64_t workspace, std::string_view id) {
  for (const sql::SqlText statement : {
           sql::SqlText("DELETE FROM turns WHERE workspace_id = ? AND conversation_id = ?"),
           sql::SqlText("DELETE FROM chat_messages WHERE workspace_id = ? AND chat_id = ?"),
           sql::SqlText("DELETE FROM chats WHERE workspace_id = ? AND id = ?"),
           sql::SqlText("DELETE FROM conversations WHERE workspace_id = ? AND id = ?"),
       }) {
    FOOTNOTE_TRY(auto erase, database.prepare(statement));
    erase.bind(workspace, id);
    FOOTNOTE_CHECK(erase.run());
  }
  return {};
}

struct PagePlace {
  std::int64_t updated_at = 0;
  std::string id;
};

/// "1780000000000:ID"
Result<PagePlace> place_of(std::string_view after) {
  const std::size_t colon = after.find(':');
  const auto time = parse_whole_number(after.substr(0, std::min(colon, after.size())));
  if (colon != std::string_view::npos && time) return PagePlace{*time, std::string(after.substr(colon + 1))};
  return fail_field(ErrorCode::kInvalidArgument, "after", "'after' must be the 'next' of the page before");
}

/// A LIKE pattern for texts that contain `words`.
std::string pattern_of(std::string_view words) {
  std::string out = "%";
  for (const char c : words) {
    if (c == '%' || c == '_' || c == '\\') out += '\\';
    out += c;
  }
  return out + "%";
}

}  // namespace

Result<void> SqliteChatStore::create_chat(const CallContext& call, const Chat& chat) {
  return store_.write(call, [&](sql::Database& database) -> Result<void> {
    FOOTNOTE_TRY(auto add,
                 database.prepare("INSERT INTO conversations (workspace_id, id, created_at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING"));
    add.bind(chat.workspace.value, chat.id.value, to_row(chat.created_at));
    FOOTNOTE_CHECK(add.run());
    if (database.changed_rows() == 0) return fail(ErrorCode::kAlreadyExists, "there is a conversation '{}'", chat.id.value);
    FOOTNOTE_TRY(auto insert, database.prepare("INSERT INTO chats (workspace_id, id, owner, created_at, updated_at, messages, title, "
                                               "project_keys) VALUES (?1, ?2, ?3, ?4, ?4, 0, ?5, ?6)"));
    insert.bind(chat.workspace.value, chat.id.value, chat.owner, to_row(chat.created_at), chat.title, to_stored_text(chat.project_keys));
    return insert.run();
  });
}

Result<Chat> SqliteChatStore::chat(const CallContext& call, WorkspaceId workspace, const ConversationId& id) const {
  return store_.read(call, [&](sql::Database& database) { return read_chat(database, workspace, id); });
}

Result<ChatPage> SqliteChatStore::chats(const CallContext& call, const ChatQuery& query) const {
  std::optional<PagePlace> place;
  if (!query.after.empty()) {
    FOOTNOTE_TRY(place, place_of(query.after));
  }
  const std::optional<std::string> pattern = query.search.empty() ? std::nullopt : std::optional(pattern_of(query.search));
  FOOTNOTE_TRY(std::vector<Chat> found, store_.read(call, [&](sql::Database& database) -> Result<std::vector<Chat>> {
    FOOTNOTE_TRY(auto list, database.prepare(R"sql(
      SELECT id, owner, created_at, updated_at, active_leaf, messages, title, project_keys FROM chats c
      WHERE workspace_id = ?1 AND owner = ?2 AND (?3 IS NULL OR (updated_at, id) < (?3, ?4))
        AND (?5 IS NULL OR title LIKE ?5 ESCAPE '\' OR EXISTS (SELECT 1 FROM chat_messages m
             WHERE m.workspace_id = c.workspace_id AND m.chat_id = c.id AND m.text LIKE ?5 ESCAPE '\'))
      ORDER BY updated_at DESC, id DESC LIMIT ?6)sql"));
    list.bind(query.workspace.value, query.owner, place ? std::optional(place->updated_at) : std::nullopt,
              place ? place->id : std::string(), pattern, limit_of(query.limit + 1));
    return list.collect<Chat>([&](const sql::Statement& row) { return chat_from(row, query.workspace); });
  }));
  ChatPage page{.chats = std::move(found)};
  if (page.chats.size() > query.limit) {
    page.chats.resize(query.limit);
    if (!page.chats.empty()) page.next = fmt::format("{}:{}", to_row(page.chats.back().updated_at), page.chats.back().id.value);
  }
  return page;
}

Result<Chat> SqliteChatStore::change_chat(const CallContext& call, WorkspaceId workspace, const ConversationId& id,
                                          const ChatChange& change) {
  return store_.write(call, [&](sql::Database& database) -> Result<Chat> {
    FOOTNOTE_TRY(Chat chat, read_chat(database, workspace, id));
    if (change.active_leaf) {
      FOOTNOTE_TRY(const bool known, has_message(database, workspace, id, *change.active_leaf));
      if (!known) {
        return fail_field(ErrorCode::kInvalidArgument, "active_leaf", "'active_leaf' must be the id of a message of this conversation");
      }
      chat.active_leaf = *change.active_leaf;
    }
    if (change.title) chat.title = *change.title;
    FOOTNOTE_TRY(auto update, database.prepare("UPDATE chats SET title = ?, active_leaf = ? WHERE workspace_id = ? AND id = ?"));
    update.bind(chat.title, none_if_empty(chat.active_leaf), workspace.value, id.value);
    FOOTNOTE_CHECK(update.run());
    return chat;
  });
}

Result<void> SqliteChatStore::erase_chat(const CallContext& call, WorkspaceId workspace, const ConversationId& id) {
  return store_.write(call, [&](sql::Database& database) -> Result<void> {
    FOOTNOTE_CHECK(read_chat(database, workspace, id));
    return delete_chat(database, workspace.value, id.value);
  });
}

Result<std::size_t> SqliteChatStore::erase_chats(const CallContext& call, UtcTime before, std::size_t limit) {
  return store_.write(call, [&](sql::Database& database) -> Result<std::size_t> {
    FOOTNOTE_TRY(auto list, database.prepare("SELECT workspace_id, id FROM chats WHERE updated_at < ? ORDER BY updated_at LIMIT ?"));
    list.bind(to_row(before), limit_of(limit));
    using Doomed = std::pair<std::int64_t, std::string>;
    FOOTNOTE_TRY(const auto doomed,
                 list.collect<Doomed>([](const sql::Statement& row) { return Doomed{row.integer(0), std::string(row.text(1))}; }));
    for (const auto& [workspace, id] : doomed) FOOTNOTE_CHECK(delete_chat(database, workspace, id));
    return doomed.size();
  });
}

Result<void> SqliteChatStore::add_message(const CallContext& call, WorkspaceId workspace, const ConversationId& chat,
                                          const ChatNode& message) {
  return store_.write(call, [&](sql::Database& database) -> Result<void> {
    FOOTNOTE_TRY(const Chat found, read_chat(database, workspace, chat));
    if (found.messages >= static_cast<std::int64_t>(kChatMessagesMax)) {
      return fail(ErrorCode::kFailedPrecondition, "the conversation has {} messages, which is the limit; start a new one", found.messages);
    }
    if (!message.parent.empty()) {
      FOOTNOTE_TRY(const bool known, has_message(database, workspace, chat, message.parent));
      if (!known) return fail_field(ErrorCode::kInvalidArgument, "parent", "the conversation has no message '{}'", message.parent);
    }
    FOOTNOTE_TRY(const bool taken, has_message(database, workspace, chat, message.id));
    if (taken) return fail(ErrorCode::kAlreadyExists, "the conversation has a message '{}'", message.id);
    FOOTNOTE_TRY(auto insert, database.prepare("INSERT INTO chat_messages (workspace_id, chat_id, id, parent_id, role, created_at, "
                                               "turn_id, text, meta) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"));
    insert.bind(workspace.value, chat.value, message.id, none_if_empty(message.parent), to_string(message.role), to_row(message.created_at),
                none_if_empty(message.turn.value), repair_utf8(message.text), message.meta);
    FOOTNOTE_CHECK(insert.run());
    FOOTNOTE_TRY(auto update, database.prepare("UPDATE chats SET active_leaf = ?, messages = messages + 1, "
                                               "updated_at = max(updated_at, ?) WHERE workspace_id = ? AND id = ?"));
    update.bind(message.id, to_row(message.created_at), workspace.value, chat.value);
    return update.run();
  });
}

Result<std::vector<ChatNode>> SqliteChatStore::messages(const CallContext& call, WorkspaceId workspace, const ConversationId& chat) const {
  return store_.read(call, [&](sql::Database& database) -> Result<std::vector<ChatNode>> {
    FOOTNOTE_CHECK(read_chat(database, workspace, chat));
    FOOTNOTE_TRY(auto list, database.prepare(R"sql(
      SELECT m.id, m.parent_id, m.role, m.created_at, m.turn_id, m.text, m.meta, f.rating, f.comment
      FROM chat_messages m LEFT JOIN turns t ON t.workspace_id = m.workspace_id AND t.id = m.turn_id
        LEFT JOIN turn_feedback f ON f.turn_sequence = t.sequence
      WHERE m.workspace_id = ? AND m.chat_id = ? ORDER BY m.sequence)sql"));
    list.bind(workspace.value, chat.value);
    return list.collect<ChatNode>(node_from);
  });
}

Result<ChatNode> SqliteChatStore::message(const CallContext& call, WorkspaceId workspace, const ConversationId& chat,
                                          std::string_view id) const {
  FOOTNOTE_TRY(auto found, path(call, workspace, chat, id, 1));
  return std::move(found.back());
}

Result<std::vector<ChatNode>> SqliteChatStore::path(const CallContext& call, WorkspaceId workspace, const ConversationId& chat,
                                                    std::string_view leaf, std::size_t limit) const {
  return store_.read(call, [&](sql::Database& database) -> Result<std::vector<ChatNode>> {
    FOOTNOTE_TRY(auto find, database.prepare(R"sql(
      WITH RECURSIVE up (depth, id, parent_id, role, created_at, turn_id, text, meta) AS (
        SELECT 1, id, parent_id, role, created_at, turn_id, text, meta FROM chat_messages
        WHERE workspace_id = ?1 AND chat_id = ?2 AND id = ?3
        UNION ALL
        SELECT depth + 1, m.id, m.parent_id, m.role, m.created_at, m.turn_id, m.text, m.meta
        FROM up JOIN chat_messages m ON m.workspace_id = ?1 AND m.chat_id = ?2 AND m.id = up.parent_id WHERE depth < ?4)
      SELECT id, parent_id, role, created_at, turn_id, text, meta, NULL, NULL FROM up ORDER BY depth DESC)sql"));
    find.bind(workspace.value, chat.value, leaf, limit_of(limit));
    FOOTNOTE_TRY(auto out, find.collect<ChatNode>(node_from));
    if (out.empty()) return fail(ErrorCode::kNotFound, "the conversation has no message '{}'", leaf);
    return out;
  });
}

Result<void> SqliteChatStore::rate(const CallContext& call, WorkspaceId workspace, const TurnId& turn,
                                   const std::optional<Feedback>& feedback) {
  if (feedback) FOOTNOTE_CHECK(check_feedback(*feedback));
  return store_.write(call, [&](sql::Database& database) -> Result<void> {
    FOOTNOTE_TRY(auto find, database.prepare("SELECT sequence FROM turns LEFT JOIN visits ON turn_sequence = sequence "
                                             "WHERE turns.workspace_id = ? AND id = ? AND turn_sequence IS NULL"));
    find.bind(workspace.value, turn.value);
    FOOTNOTE_TRY(const bool found, find.step());
    if (!found) return fail(ErrorCode::kNotFound, "there is no turn '{}'", turn.value);
    const std::int64_t sequence = find.integer(0);
    if (!feedback) {
      FOOTNOTE_TRY(auto erase, database.prepare("DELETE FROM turn_feedback WHERE turn_sequence = ?"));
      erase.bind(sequence);
      return erase.run();
    }
    FOOTNOTE_TRY(auto put, database.prepare("INSERT INTO turn_feedback (turn_sequence, rated_at, rating, comment) VALUES (?, ?, ?, ?) "
                                            "ON CONFLICT (turn_sequence) DO UPDATE SET rated_at = excluded.rated_at, "
                                            "rating = excluded.rating, comment = excluded.comment"));
    put.bind(sequence, to_row(store_.clock().now()), stored_name(feedback->rating), feedback->reason);
    return put.run();
  });
}

Result<std::int64_t> SqliteChatStore::put_eval_case(const CallContext& call, const EvalCase& made) {
  return store_.write(call, [&](sql::Database& database) -> Result<std::int64_t> {
    FOOTNOTE_TRY(const CorpusRow row, read_corpus(database, made.corpus));
    if (row.corpus.workspace != made.workspace) return fail(ErrorCode::kNotFound, "there is no corpus {}", made.corpus.value);
    const JsonObject label{{"answerable", made.answerable ? 1 : 0},
                           {"documents", to_stored_array(made.document_keys)},
                           {"answers", to_stored_array(made.answers)}};
    FOOTNOTE_TRY(auto put, database.prepare("INSERT INTO eval_cases (workspace_id, corpus_id, turn_id, created_at, question, label) "
                                            "VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (workspace_id, turn_id) DO UPDATE SET "
                                            "question = excluded.question, label = excluded.label RETURNING id"));
    put.bind(made.workspace.value, made.corpus.value, made.turn.value, to_row(made.created_at), repair_utf8(made.question), to_text(label));
    FOOTNOTE_TRY(const bool stored, put.step());
    const std::int64_t id = stored ? put.integer(0) : 0;
    FOOTNOTE_CHECK(put.run());
    return id;
  });
}

Result<std::vector<EvalCase>> SqliteChatStore::eval_cases(const CallContext& call, WorkspaceId workspace, std::int64_t after,
                                                          std::size_t limit) const {
  return store_.read(call, [&](sql::Database& database) -> Result<std::vector<EvalCase>> {
    FOOTNOTE_TRY(auto list, database.prepare("SELECT id, corpus_id, turn_id, created_at, question, label FROM eval_cases "
                                             "WHERE workspace_id = ? AND id > ? ORDER BY id LIMIT ?"));
    list.bind(workspace.value, after, limit_of(limit));
    return list.collect<EvalCase>([&](const sql::Statement& row) -> Result<EvalCase> {
      FOOTNOTE_TRY(const Json value, parse_json(row.text(5)));
      bool damaged = false;
      const StoredObject label(value, damaged);
      EvalCase out{.id = row.integer(0),
                   .workspace = workspace,
                   .corpus = {row.integer(1)},
                   .turn = {std::string(row.text(2))},
                   .question = std::string(row.text(4)),
                   .answerable = label.integer("answerable", 1) != 0,
                   .document_keys = label.texts("documents"),
                   .answers = label.texts("answers"),
                   .created_at = time_from(row.integer(3))};
      if (damaged) return damaged_text("eval case");
      return out;
    });
  });
}

}  // namespace footnote
