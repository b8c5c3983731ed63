#include "providers/sqlite/migrations.h"

#include "base/fault_point.h"
#include "engine/sql/transaction.h"
#include "providers/sqlite/point_rows.h"

namespace footnote {

namespace {

/// The first schema with page checksums.
constexpr std::int32_t kPageSumsSchema = 3;
/// The first schema in which every chunk is a point.
constexpr std::int32_t kPointsSchema = 6;

/// One schema change. A released step is never modified: the next change is a new step.
struct Migration {
  std::int32_t number;
  sql::SqlText script;
};

// Times are milliseconds since 1970, UTC. Rows of documents, versions, chunks and edges belong to a corpus and are visible in generation g
// if born <= g and (died is null or g < died); a corpus belongs to one workspace. Rows of a workspace refer to their corpus by (workspace,
// corpus), so that no row can join two workspaces. Long values come last in their rows: a listing does not read beyond the columns it
// needs.
constexpr Migration kMigrations[] = {
    {1, R"sql(
CREATE TABLE workspaces (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  name       TEXT    NOT NULL UNIQUE,
  created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE corpora (
  id            INTEGER PRIMARY KEY AUTOINCREMENT,
  workspace_id  INTEGER NOT NULL REFERENCES workspaces (id),
  name          TEXT    NOT NULL,
  model_id      TEXT    NOT NULL,
  dimension     INTEGER NOT NULL CHECK (dimension > 0),
  generation    INTEGER NOT NULL DEFAULT 0,
  deaths_known_after INTEGER NOT NULL DEFAULT 0,  -- deaths in this generation and before may be forgotten
  created_at    INTEGER NOT NULL,
  UNIQUE (workspace_id, name),
  UNIQUE (workspace_id, id)
) STRICT;

CREATE TABLE sources (
  id        INTEGER PRIMARY KEY AUTOINCREMENT,
  corpus_id INTEGER NOT NULL REFERENCES corpora (id),
  kind      TEXT    NOT NULL,
  location  TEXT    NOT NULL,
  synced_at INTEGER,
  UNIQUE (corpus_id, kind, location)
) STRICT;

CREATE TABLE documents (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  corpus_id  INTEGER NOT NULL REFERENCES corpora (id),
  key        TEXT    NOT NULL CHECK (key <> ''),
  version    INTEGER NOT NULL,  -- the newest; live unless deleted_at is set
  deleted_at INTEGER,
  UNIQUE (corpus_id, key)
) STRICT;

CREATE TABLE document_versions (
  id           INTEGER PRIMARY KEY,
  corpus_id    INTEGER NOT NULL,
  document_id  INTEGER NOT NULL REFERENCES documents (id),
  version      INTEGER NOT NULL,
  source_id    INTEGER REFERENCES sources (id),
  content_hash TEXT    NOT NULL,
  chunk_count  INTEGER NOT NULL,
  indexed_at   INTEGER NOT NULL,
  born         INTEGER NOT NULL,
  died         INTEGER,
  died_at      INTEGER,
  attributes   TEXT    NOT NULL,  -- JSON
  text         TEXT    NOT NULL,
  UNIQUE (document_id, version)
) STRICT;
CREATE INDEX document_versions_live ON document_versions (corpus_id, chunk_count) WHERE died IS NULL;
CREATE INDEX document_versions_dead ON document_versions (corpus_id, died_at) WHERE died IS NOT NULL;

CREATE TABLE chunks (
  id               INTEGER PRIMARY KEY AUTOINCREMENT,  -- never given twice: indexes know chunks by it
  corpus_id        INTEGER NOT NULL,
  document_id      INTEGER NOT NULL REFERENCES documents (id),
  document_version INTEGER NOT NULL,
  ordinal          INTEGER NOT NULL,
  born             INTEGER NOT NULL,
  died             INTEGER,
  died_at          INTEGER,
  range_begin      INTEGER NOT NULL,
  range_end        INTEGER NOT NULL,
  first_line       INTEGER NOT NULL,
  last_line        INTEGER NOT NULL,
  content_hash     TEXT    NOT NULL,
  source_type      TEXT    NOT NULL,
  symbol           TEXT    NOT NULL,
  heading_path     TEXT    NOT NULL,  -- JSON
  text             TEXT    NOT NULL,
  UNIQUE (document_id, document_version, ordinal)
) STRICT;
CREATE INDEX chunks_born ON chunks (corpus_id, born);
CREATE INDEX chunks_dead ON chunks (corpus_id, died, died_at) WHERE died IS NOT NULL;
CREATE INDEX chunks_hash ON chunks (corpus_id, content_hash);

-- All windows of a chunk in one row, one after the other: little-endian 32-bit floats, windows x dimension of them.
CREATE TABLE chunk_vectors (
  chunk_id INTEGER PRIMARY KEY REFERENCES chunks (id) ON DELETE CASCADE,
  windows  INTEGER NOT NULL CHECK (windows > 0),
  vectors  BLOB    NOT NULL
) STRICT;

-- What is left of purged chunks, so that an index that lags behind still learns of their deaths.
CREATE TABLE purged_chunks (
  corpus_id INTEGER NOT NULL,
  died      INTEGER NOT NULL,
  chunk_id  INTEGER NOT NULL,
  PRIMARY KEY (corpus_id, died, chunk_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE edges (
  id               INTEGER PRIMARY KEY,
  corpus_id        INTEGER NOT NULL,
  document_id      INTEGER NOT NULL REFERENCES documents (id),
  document_version INTEGER NOT NULL,
  from_key         TEXT    NOT NULL,
  to_key           TEXT    NOT NULL,
  type             TEXT    NOT NULL,
  provenance       TEXT    NOT NULL,
  weight           REAL    NOT NULL,
  born             INTEGER NOT NULL,
  died             INTEGER,
  died_at          INTEGER
) STRICT;
CREATE INDEX edges_document ON edges (document_id, document_version);
CREATE INDEX edges_from ON edges (corpus_id, from_key);
CREATE INDEX edges_to ON edges (corpus_id, to_key);

CREATE TABLE conversations (
  workspace_id INTEGER NOT NULL REFERENCES workspaces (id),
  id           TEXT    NOT NULL,
  created_at   INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE turns (
  sequence        INTEGER PRIMARY KEY AUTOINCREMENT,
  workspace_id    INTEGER NOT NULL,
  id              TEXT    NOT NULL CHECK (id <> ''),
  corpus_id       INTEGER NOT NULL,
  conversation_id TEXT,
  state           TEXT    NOT NULL,
  generation      INTEGER NOT NULL,
  latency_ms      INTEGER NOT NULL,
  asked_at        INTEGER NOT NULL,
  question        TEXT    NOT NULL,
  outcome         TEXT    NOT NULL,  -- JSON
  UNIQUE (workspace_id, id),
  FOREIGN KEY (workspace_id, corpus_id) REFERENCES corpora (workspace_id, id),
  FOREIGN KEY (workspace_id, conversation_id) REFERENCES conversations (workspace_id, id)
) STRICT;
CREATE INDEX turns_conversation ON turns (workspace_id, conversation_id, sequence) WHERE conversation_id IS NOT NULL;

CREATE TABLE gaps (
  id            INTEGER PRIMARY KEY AUTOINCREMENT,
  workspace_id  INTEGER NOT NULL,
  corpus_id     INTEGER NOT NULL,
  question_hash TEXT    NOT NULL,  -- SHA-256 of the normalised question
  reason        TEXT    NOT NULL,
  question      TEXT    NOT NULL,  -- as it was first asked
  occurrences   INTEGER NOT NULL,
  first_seen_at INTEGER NOT NULL,
  last_seen_at  INTEGER NOT NULL,
  resolved_at   INTEGER,
  UNIQUE (workspace_id, corpus_id, question_hash, reason),
  FOREIGN KEY (workspace_id, corpus_id) REFERENCES corpora (workspace_id, id)
) STRICT;
CREATE INDEX gaps_open ON gaps (corpus_id, occurrences DESC, last_seen_at DESC, id) WHERE resolved_at IS NULL;

CREATE TABLE usage_days (
  workspace_id      INTEGER NOT NULL REFERENCES workspaces (id),
  day               TEXT    NOT NULL,
  questions         INTEGER NOT NULL,
  answers           INTEGER NOT NULL,
  refusals          INTEGER NOT NULL,
  prompt_tokens     INTEGER NOT NULL,
  completion_tokens INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, day)
) STRICT, WITHOUT ROWID;

CREATE TABLE events (
  id           INTEGER PRIMARY KEY AUTOINCREMENT,
  workspace_id INTEGER NOT NULL REFERENCES workspaces (id),
  corpus_id    INTEGER,
  type         TEXT    NOT NULL,
  happened_at  INTEGER NOT NULL,
  payload      TEXT    NOT NULL,  -- JSON
  FOREIGN KEY (workspace_id, corpus_id) REFERENCES corpora (workspace_id, id)
) STRICT;
CREATE INDEX events_workspace ON events (workspace_id, id);
CREATE INDEX events_corpus ON events (workspace_id, corpus_id, id) WHERE corpus_id IS NOT NULL;

CREATE TABLE api_keys (
  id             INTEGER PRIMARY KEY AUTOINCREMENT,
  workspace_id   INTEGER NOT NULL REFERENCES workspaces (id),
  name           TEXT    NOT NULL,
  display_prefix TEXT    NOT NULL,
  secret_hash    TEXT    NOT NULL UNIQUE,
  scopes         TEXT    NOT NULL,  -- JSON
  created_at     INTEGER NOT NULL,
  expires_at     INTEGER,
  last_used_at   INTEGER
) STRICT;
)sql"},
    {2, R"sql(
ALTER TABLE api_keys ADD COLUMN requests_per_minute INTEGER NOT NULL DEFAULT 0;  -- 0: the server's default
ALTER TABLE api_keys ADD COLUMN requests_per_day    INTEGER NOT NULL DEFAULT 0;  -- 0: no bound
ALTER TABLE api_keys ADD COLUMN usage_day           INTEGER NOT NULL DEFAULT 0;  -- days since 1970, UTC
ALTER TABLE api_keys ADD COLUMN usage_requests      INTEGER NOT NULL DEFAULT 0;  -- of that day

CREATE TABLE secrets (
  name  TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;
)sql"},
    // From this step on pages have checksums: see prepare_pages.
    {kPageSumsSchema, R"sql(
-- One row for each of a corpus's last generations. Another life of this folder (a copy that went its own way, a store
-- made anew) counts its generations alike, but never draws the same stamps: what was derived from one knows it again.
CREATE TABLE commits (
  corpus_id  INTEGER NOT NULL REFERENCES corpora (id),
  generation INTEGER NOT NULL,
  stamp      INTEGER NOT NULL,
  PRIMARY KEY (corpus_id, generation)
) STRICT, WITHOUT ROWID;
INSERT INTO commits (corpus_id, generation, stamp) SELECT id, generation, random() FROM corpora WHERE generation > 0;
)sql"},
    {4, R"sql(
-- In a table of its own: reading turns does not read traces.
CREATE TABLE turn_traces (
  turn_sequence INTEGER PRIMARY KEY REFERENCES turns (sequence) ON DELETE CASCADE,
  trace         TEXT    NOT NULL  -- JSON
) STRICT;
)sql"},
    {5, R"sql(
-- The tokens of a chunk as sign bits, `dimension` bits each. Codes of different forms are not comparable.
CREATE TABLE chunk_codes (
  chunk_id  INTEGER PRIMARY KEY REFERENCES chunks (id) ON DELETE CASCADE,
  corpus_id INTEGER NOT NULL,  -- the chunk's: a question reads a hundred of these rows, and not their chunks'
  form      INTEGER NOT NULL,
  dimension INTEGER NOT NULL CHECK (dimension > 0),
  windows   BLOB    NOT NULL,  -- little-endian 32-bit numbers: the tokens of each window
  signs     BLOB    NOT NULL
) STRICT;
)sql"},
    // Existing passages get their points in the same step: see add_missing_points.
    {kPointsSchema, R"sql(
ALTER TABLE corpora ADD COLUMN distance     TEXT NOT NULL DEFAULT 'cosine';
ALTER TABLE corpora ADD COLUMN named_spaces TEXT NOT NULL DEFAULT '[]';  -- JSON
ALTER TABLE corpora ADD COLUMN config       TEXT NOT NULL DEFAULT '{}';  -- JSON, what a collection's maker asked for beside
ALTER TABLE corpora ADD COLUMN deleted_at   INTEGER;                     -- its rows go step by step; turns still refer to it

CREATE TABLE aliases (
  workspace_id INTEGER NOT NULL,
  alias        TEXT    NOT NULL,
  corpus_id    INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, alias),
  FOREIGN KEY (workspace_id, corpus_id) REFERENCES corpora (workspace_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX aliases_corpus ON aliases (workspace_id, corpus_id);

-- One row for each chunk. point_id: 0 and the number, or 1 and the UUID, as bytes, big end first: their order is that of the ids.
-- A passage of an ingested document has no payload of its own: it is made from the document when it is read.
CREATE TABLE points (
  chunk_id     INTEGER PRIMARY KEY REFERENCES chunks (id) ON DELETE CASCADE,
  corpus_id    INTEGER NOT NULL,
  point_id     BLOB    NOT NULL,
  vector_names TEXT    NOT NULL,  -- JSON; "" is the vector in the corpus's own space
  payload      TEXT               -- JSON
) STRICT;
CREATE INDEX points_id ON points (corpus_id, point_id, chunk_id);

-- A point with all that the payload of a passage is made from. Passages of labelled documents are not shown: whoever may read points
-- need not have their labels. (Inside a JSON text the quotes of that name would be escaped.)
CREATE VIEW point_records AS
  SELECT p.corpus_id, p.chunk_id, p.point_id, p.vector_names, p.payload, c.born, c.died, c.ordinal, d.key, v.indexed_at, s.kind AS source_kind,
         v.attributes, c.heading_path, c.text
  FROM points p
  JOIN chunks c ON c.id = p.chunk_id
  JOIN documents d ON d.id = c.document_id
  JOIN document_versions v ON v.document_id = c.document_id AND v.version = c.document_version
  LEFT JOIN sources s ON s.id = v.source_id
  WHERE instr(v.attributes, '"acl_labels":["') = 0;

CREATE TABLE point_vectors (
  chunk_id INTEGER NOT NULL REFERENCES chunks (id) ON DELETE CASCADE,
  name     TEXT    NOT NULL,
  vector   BLOB    NOT NULL,  -- as in chunk_vectors
  PRIMARY KEY (chunk_id, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE payload_indexes (
  corpus_id INTEGER NOT NULL REFERENCES corpora (id),
  field     TEXT    NOT NULL,
  kind      TEXT    NOT NULL,
  schema    TEXT    NOT NULL,  -- JSON
  PRIMARY KEY (corpus_id, field)
) STRICT, WITHOUT ROWID;

-- The values of declared keys that are looked up: text, or a whole number (a bool is 0 or 1).
CREATE TABLE payload_values (
  corpus_id INTEGER NOT NULL,
  field     TEXT    NOT NULL,
  value     ANY     NOT NULL,
  chunk_id  INTEGER NOT NULL REFERENCES chunks (id) ON DELETE CASCADE,
  PRIMARY KEY (corpus_id, field, value, chunk_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX payload_values_chunk ON payload_values (chunk_id);
)sql"},
    {7, R"sql(
-- Vectors and codes of chunks in the space that their corpus is on its way to: as chunk_vectors and chunk_codes, of which they take
-- the place all at once. `form` is NULL where there are no codes.
CREATE TABLE next_vectors (
  chunk_id  INTEGER NOT NULL REFERENCES chunks (id) ON DELETE CASCADE,
  model_id  TEXT    NOT NULL,
  dimension INTEGER NOT NULL CHECK (dimension > 0),
  windows   INTEGER NOT NULL CHECK (windows > 0),
  vectors   BLOB    NOT NULL,
  form           INTEGER,
  code_dimension INTEGER,
  code_windows   BLOB,
  signs          BLOB,
  PRIMARY KEY (chunk_id, model_id, dimension)
) STRICT;
)sql"},
    // A corpus's gate calibration (JSON; empty: the profile's values).
    {8, R"sql(
ALTER TABLE corpora ADD COLUMN gate TEXT NOT NULL DEFAULT '';
)sql"},
    {9, R"sql(
-- How many chunks of a corpus are live, and a sum over them by which an index tells whether it has the same: see LiveDigest, which must
-- compute it alike.
ALTER TABLE corpora ADD COLUMN live_chunks INTEGER NOT NULL DEFAULT 0;
ALTER TABLE corpora ADD COLUMN live_sum INTEGER NOT NULL DEFAULT 0;
UPDATE corpora SET
  live_chunks = (SELECT count(*) FROM chunks c WHERE c.corpus_id = corpora.id AND c.died IS NULL),
  live_sum = (SELECT coalesce(sum(((((c.id * 40503 + c.born * 2654435761) & 2147483647) * ((c.id * 40503 + c.born * 2654435761) & 2147483647) >> 8) & 4294967295)), 0)
              FROM chunks c WHERE c.corpus_id = corpora.id AND c.died IS NULL) & 4611686018427387903;
CREATE TRIGGER chunk_born AFTER INSERT ON chunks WHEN NEW.died IS NULL BEGIN
  UPDATE corpora SET live_chunks = live_chunks + 1,
    live_sum = (live_sum + ((((NEW.id * 40503 + NEW.born * 2654435761) & 2147483647) * ((NEW.id * 40503 + NEW.born * 2654435761) & 2147483647) >> 8) & 4294967295)) & 4611686018427387903
  WHERE id = NEW.corpus_id;
END;
CREATE TRIGGER chunk_died AFTER UPDATE OF died ON chunks WHEN OLD.died IS NULL AND NEW.died IS NOT NULL BEGIN
  UPDATE corpora SET live_chunks = live_chunks - 1,
    live_sum = (live_sum - ((((OLD.id * 40503 + OLD.born * 2654435761) & 2147483647) * ((OLD.id * 40503 + OLD.born * 2654435761) & 2147483647) >> 8) & 4294967295)) & 4611686018427387903
  WHERE id = OLD.corpus_id;
END;
CREATE TRIGGER chunk_erased AFTER DELETE ON chunks WHEN OLD.died IS NULL BEGIN
  UPDATE corpora SET live_chunks = live_chunks - 1,
    live_sum = (live_sum - ((((OLD.id * 40503 + OLD.born * 2654435761) & 2147483647) * ((OLD.id * 40503 + OLD.born * 2654435761) & 2147483647) >> 8) & 4294967295)) & 4611686018427387903
  WHERE id = OLD.corpus_id;
END;
)sql"},
    {10, R"sql(
CREATE TABLE agents (
  id                TEXT    PRIMARY KEY,  -- public: it stands in pages
  workspace_id      INTEGER NOT NULL REFERENCES workspaces (id),
  name              TEXT    NOT NULL,
  published_version INTEGER NOT NULL DEFAULT 0,  -- 0: none
  curated_revision  INTEGER NOT NULL DEFAULT 0,
  created_at        INTEGER NOT NULL,
  updated_at        INTEGER NOT NULL,
  draft             TEXT    NOT NULL,  -- JSON
  UNIQUE (workspace_id, name)
) STRICT;

CREATE TABLE agent_versions (
  agent_id     TEXT    NOT NULL REFERENCES agents (id) ON DELETE CASCADE,
  version      INTEGER NOT NULL,
  published_at INTEGER NOT NULL,
  name         TEXT    NOT NULL,
  settings     TEXT    NOT NULL,  -- JSON
  PRIMARY KEY (agent_id, version)
) STRICT;

CREATE TABLE curated_answers (
  id              INTEGER PRIMARY KEY AUTOINCREMENT,
  agent_id        TEXT    NOT NULL REFERENCES agents (id) ON DELETE CASCADE,
  priority        INTEGER NOT NULL,
  enabled         INTEGER NOT NULL,
  language        TEXT    NOT NULL,
  page_url_prefix TEXT    NOT NULL,
  updated_at      INTEGER NOT NULL,
  pattern         TEXT    NOT NULL,
  answer          TEXT    NOT NULL
) STRICT;
CREATE INDEX curated_answers_agent ON curated_answers (agent_id, id);

-- Of the questions of an agent's visitors; those of other doors are in gaps. Kept when the agent goes, as its turns are.
CREATE TABLE agent_gaps (
  id            INTEGER PRIMARY KEY AUTOINCREMENT,
  workspace_id  INTEGER NOT NULL REFERENCES workspaces (id),
  agent_id      TEXT    NOT NULL,
  question_hash TEXT    NOT NULL,  -- SHA-256 of its folded words
  reason        TEXT    NOT NULL,  -- the last one
  status        TEXT    NOT NULL,
  occurrences   INTEGER NOT NULL,
  first_seen_at INTEGER NOT NULL,
  last_seen_at  INTEGER NOT NULL,
  question      TEXT    NOT NULL,  -- as it was first asked
  UNIQUE (workspace_id, agent_id, question_hash)
) STRICT;
CREATE INDEX agent_gaps_status ON agent_gaps (workspace_id, agent_id, status, occurrences DESC, last_seen_at DESC, id);

-- What a turn of a site's visitor has beyond others.
CREATE TABLE visits (
  turn_sequence INTEGER PRIMARY KEY REFERENCES turns (sequence) ON DELETE CASCADE,
  workspace_id  INTEGER NOT NULL,
  agent_id      TEXT    NOT NULL,
  visitor_id    TEXT    NOT NULL,
  asked_at      INTEGER NOT NULL,
  gap_id        INTEGER REFERENCES agent_gaps (id) ON DELETE SET NULL,
  rating        TEXT,
  rating_reason TEXT,
  details       TEXT    NOT NULL  -- JSON
) STRICT;
CREATE INDEX visits_visitor ON visits (workspace_id, visitor_id, turn_sequence);
CREATE INDEX visits_agent ON visits (workspace_id, agent_id, asked_at);
CREATE INDEX visits_gap ON visits (gap_id) WHERE gap_id IS NOT NULL;

CREATE TABLE agent_usage_days (
  workspace_id      INTEGER NOT NULL REFERENCES workspaces (id),
  agent_id          TEXT    NOT NULL,
  day               TEXT    NOT NULL,
  turns             INTEGER NOT NULL,
  curated           INTEGER NOT NULL,
  refused           INTEGER NOT NULL,
  prompt_tokens     INTEGER NOT NULL,
  completion_tokens INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, agent_id, day)
) STRICT, WITHOUT ROWID;

CREATE TABLE webhook_endpoints (
  id           INTEGER PRIMARY KEY AUTOINCREMENT,
  workspace_id INTEGER NOT NULL REFERENCES workspaces (id),
  enabled      INTEGER NOT NULL,
  created_at   INTEGER NOT NULL,
  url          TEXT    NOT NULL,
  secret       TEXT    NOT NULL,
  events       TEXT    NOT NULL  -- JSON
) STRICT;
CREATE INDEX webhook_endpoints_workspace ON webhook_endpoints (workspace_id, id);

-- What is to be told, by id: the body is made when it is sent.
CREATE TABLE webhook_outbox (
  id           INTEGER PRIMARY KEY AUTOINCREMENT,
  workspace_id INTEGER NOT NULL,
  endpoint_id  INTEGER NOT NULL REFERENCES webhook_endpoints (id) ON DELETE CASCADE,
  message_id   TEXT    NOT NULL,
  type         TEXT    NOT NULL,
  subject      TEXT    NOT NULL,
  happened_at  INTEGER NOT NULL,
  next_at      INTEGER NOT NULL,
  attempts     INTEGER NOT NULL DEFAULT 0,
  dead_at      INTEGER,
  last_error   TEXT    NOT NULL DEFAULT ''
) STRICT;
CREATE INDEX webhook_outbox_endpoint ON webhook_outbox (endpoint_id, next_at, id);
CREATE INDEX webhook_outbox_dead ON webhook_outbox (workspace_id, id) WHERE dead_at IS NOT NULL;
)sql"},
    {11, R"sql(
-- Agents that are gone while turns of their visitors are kept for some days.
CREATE TABLE removed_agents (
  workspace_id   INTEGER NOT NULL REFERENCES workspaces (id),
  agent_id       TEXT    NOT NULL,
  retention_days INTEGER NOT NULL,
  removed_at     INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, agent_id)
) STRICT, WITHOUT ROWID;
)sql"},
    {12, R"sql(
-- Visitors who were erased not long ago: what is still being answered to them is not kept.
CREATE TABLE erasures (
  workspace_id INTEGER NOT NULL REFERENCES workspaces (id),
  visitor_id   TEXT    NOT NULL,
  erased_at    INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, visitor_id)
) STRICT, WITHOUT ROWID;
)sql"},
    {13, R"sql(
-- A revoked key is over, whatever the clock says later. Until now a revocation was an expiry: whatever has ended by now stays so.
ALTER TABLE api_keys ADD COLUMN revoked_at INTEGER;
UPDATE api_keys SET revoked_at = expires_at WHERE expires_at <= unixepoch() * 1000;

CREATE INDEX document_versions_labelled ON document_versions (corpus_id, chunk_count)
  WHERE died IS NULL AND instr(attributes, '"acl_labels":["') > 0;
)sql"},
    {14, R"sql(
-- Pages, rows and the like of the original file, where the lines of a passage are not the file's: see Places.
ALTER TABLE chunks ADD COLUMN places TEXT NOT NULL DEFAULT '';
)sql"},
    {15, R"sql(
-- What a source is beside its place, and when it is synced. A deleted one stays, under another location, until the last version that came
-- from it is purged.
ALTER TABLE sources ADD COLUMN title            TEXT    NOT NULL DEFAULT '';
ALTER TABLE sources ADD COLUMN interval_seconds INTEGER NOT NULL DEFAULT 0;  -- 0: no schedule
ALTER TABLE sources ADD COLUMN watch            INTEGER NOT NULL DEFAULT 0;
ALTER TABLE sources ADD COLUMN created_at       INTEGER NOT NULL DEFAULT 0;
ALTER TABLE sources ADD COLUMN next_at          INTEGER;
ALTER TABLE sources ADD COLUMN deleted_at       INTEGER;
ALTER TABLE sources ADD COLUMN error            TEXT    NOT NULL DEFAULT '';
ALTER TABLE sources ADD COLUMN options          TEXT    NOT NULL DEFAULT '{}';  -- JSON
ALTER TABLE sources ADD COLUMN content          TEXT    NOT NULL DEFAULT '';
CREATE INDEX sources_due ON sources (next_at) WHERE next_at IS NOT NULL;
CREATE INDEX document_versions_source ON document_versions (source_id, died, chunk_count) WHERE source_id IS NOT NULL;

-- Documents of a source that could not be ingested.
CREATE TABLE source_failures (
  source_id INTEGER NOT NULL REFERENCES sources (id) ON DELETE CASCADE,
  key       TEXT    NOT NULL,
  stamp     TEXT    NOT NULL,
  reason    TEXT    NOT NULL,
  attempts  INTEGER NOT NULL,
  next_at   INTEGER NOT NULL,
  PRIMARY KEY (source_id, key)
) STRICT, WITHOUT ROWID;

-- A running job belongs to its worker until lease_until. Corpus and source may be gone: what is left of a job is a record.
CREATE TABLE jobs (
  id           INTEGER PRIMARY KEY AUTOINCREMENT,
  workspace_id INTEGER NOT NULL REFERENCES workspaces (id),
  corpus_id    INTEGER,
  source_id    INTEGER,
  kind         TEXT    NOT NULL,
  state        TEXT    NOT NULL,
  cancelled    INTEGER NOT NULL DEFAULT 0,  -- somebody asked for it
  worker       TEXT    NOT NULL DEFAULT '',
  lease_until  INTEGER NOT NULL DEFAULT 0,
  attempts     INTEGER NOT NULL DEFAULT 0,
  created_at   INTEGER NOT NULL,
  due_at       INTEGER NOT NULL,
  started_at   INTEGER,
  finished_at  INTEGER,
  error        TEXT    NOT NULL DEFAULT '',
  progress     TEXT    NOT NULL DEFAULT '{}',  -- JSON
  input        TEXT    NOT NULL DEFAULT ''
) STRICT;
CREATE INDEX jobs_open ON jobs (due_at, id) WHERE finished_at IS NULL;
CREATE INDEX jobs_workspace ON jobs (workspace_id, id);
CREATE INDEX jobs_source ON jobs (source_id, id) WHERE source_id IS NOT NULL;
)sql"},
    {16, R"sql(
-- The bytes that documents were read from, each stored once.
CREATE TABLE originals (
  hash  TEXT PRIMARY KEY,  -- SHA-256
  bytes BLOB NOT NULL
) STRICT;
ALTER TABLE document_versions ADD COLUMN original_hash TEXT;
ALTER TABLE document_versions ADD COLUMN kept INTEGER NOT NULL DEFAULT 0;  -- it died, but stays: its document can return to it
CREATE INDEX document_versions_original ON document_versions (original_hash) WHERE original_hash IS NOT NULL;
DROP INDEX document_versions_dead;
CREATE INDEX document_versions_dead ON document_versions (corpus_id, died_at) WHERE died IS NOT NULL AND NOT kept;
)sql"},
    {17, R"sql(
-- Conversations of the knowledge base's users: trees of messages. Those of a site's visitors have no row here.
CREATE TABLE chats (
  workspace_id INTEGER NOT NULL,
  id           TEXT    NOT NULL,
  owner        TEXT    NOT NULL,
  created_at   INTEGER NOT NULL,
  updated_at   INTEGER NOT NULL,
  messages     INTEGER NOT NULL,
  active_leaf  TEXT,
  title        TEXT    NOT NULL,
  project_keys TEXT    NOT NULL,  -- JSON
  PRIMARY KEY (workspace_id, id),
  FOREIGN KEY (workspace_id, id) REFERENCES conversations (workspace_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX chats_recent ON chats (workspace_id, owner, updated_at, id);
CREATE INDEX chats_old ON chats (updated_at);

-- An assistant's message has the id of its turn; it stays when the turn is deleted.
CREATE TABLE chat_messages (
  sequence     INTEGER PRIMARY KEY AUTOINCREMENT,
  workspace_id INTEGER NOT NULL,
  chat_id      TEXT    NOT NULL,
  id           TEXT    NOT NULL CHECK (id <> ''),
  parent_id    TEXT,
  role         TEXT    NOT NULL,
  created_at   INTEGER NOT NULL,
  turn_id      TEXT,
  text         TEXT    NOT NULL,
  meta         TEXT    NOT NULL,  -- JSON, or empty
  UNIQUE (workspace_id, chat_id, id),
  FOREIGN KEY (workspace_id, chat_id) REFERENCES chats (workspace_id, id)
) STRICT;

CREATE TABLE turn_feedback (
  turn_sequence INTEGER PRIMARY KEY REFERENCES turns (sequence) ON DELETE CASCADE,
  rated_at      INTEGER NOT NULL,
  rating        TEXT    NOT NULL,
  comment       TEXT    NOT NULL
) STRICT;

-- Answers that people labelled as right. Kept when the turn is deleted.
CREATE TABLE eval_cases (
  id           INTEGER PRIMARY KEY AUTOINCREMENT,
  workspace_id INTEGER NOT NULL,
  corpus_id    INTEGER NOT NULL,
  turn_id      TEXT    NOT NULL,
  created_at   INTEGER NOT NULL,
  question     TEXT    NOT NULL,
  label        TEXT    NOT NULL,  -- JSON
  UNIQUE (workspace_id, turn_id),
  FOREIGN KEY (workspace_id, corpus_id) REFERENCES corpora (workspace_id, id)
) STRICT;
)sql"},
    {18, R"sql(
-- Relations that clients added. Unlike those in edges they do not belong to a version of a document.
CREATE TABLE added_edges (
  id        INTEGER PRIMARY KEY,
  corpus_id INTEGER NOT NULL REFERENCES corpora (id),
  from_key  TEXT    NOT NULL,
  to_key    TEXT    NOT NULL,
  type      TEXT    NOT NULL,
  weight    REAL    NOT NULL,
  UNIQUE (corpus_id, from_key, to_key, type)
) STRICT;

-- Labels of the documents that a key's holder may find.
ALTER TABLE api_keys ADD COLUMN labels    TEXT NOT NULL DEFAULT '[]';  -- JSON
ALTER TABLE api_keys ADD COLUMN origin_id INTEGER;  -- the first key that this one replaces by rotation
)sql"},
    {19, R"sql(
-- Code bases that coding agents ask; their chunks are a corpus each.
CREATE TABLE projects (
  id             INTEGER PRIMARY KEY,
  workspace_id   INTEGER NOT NULL REFERENCES workspaces (id),
  slug           TEXT    NOT NULL,
  root           TEXT    NOT NULL,
  repository_url TEXT    NOT NULL,
  default_branch TEXT    NOT NULL,
  framework      TEXT    NOT NULL,
  language       TEXT    NOT NULL,
  status         TEXT    NOT NULL,
  problem        TEXT    NOT NULL,
  created_at     INTEGER NOT NULL,
  indexed_at     INTEGER,
  UNIQUE (workspace_id, slug)
) STRICT;
)sql"},
};

/// A file without our mark may be used only if it is empty.
Result<void> refuse_foreign_file(sql::Database& database) {
  FOOTNOTE_TRY(const std::int32_t owner, database.application_id());
  if (owner == kApplicationId) return {};
  FOOTNOTE_TRY(auto tables, database.prepare("SELECT count(*) FROM sqlite_schema"));
  FOOTNOTE_CHECK(tables.step());
  if (owner == 0 && tables.integer(0) == 0) return {};
  return fail(ErrorCode::kFailedPrecondition, "{} is another program's database: use another --data folder", database.file().string());
}

/// Older files get checksums now; a file of a newer schema without them has a damaged header.
Result<void> prepare_pages(sql::Database& database, std::int32_t current) {
  if (database.has_page_sums() || current == 0) return {};
  if (current >= kPageSumsSchema) {
    return fail(ErrorCode::kCorrupted,
                "{} has lost the checksums of its pages: restore it from a snapshot, or move it away and ingest again",
                database.file().string());
  }
  return database.add_page_sums();
}

Result<void> apply(sql::Database& database, const Migration& migration) {
  FOOTNOTE_TRY(auto transaction, sql::Transaction::begin(database));
  FOOTNOTE_CHECK(database.execute(migration.script));
  if (migration.number == kPointsSchema) FOOTNOTE_CHECK(add_missing_points(database));
  FOOTNOTE_CHECK(database.set_application_id(kApplicationId));
  FOOTNOTE_CHECK(database.set_schema_number(migration.number));
  fault_point(FaultPoint::kMigrationStep);
  return transaction.commit();
}

}  // namespace

std::int32_t newest_schema() { return std::rbegin(kMigrations)->number; }

Result<void> migrate(sql::Database& database) {
  FOOTNOTE_CHECK(refuse_foreign_file(database));
  FOOTNOTE_TRY(const std::int32_t current, database.schema_number());
  if (current > newest_schema()) {
    return fail(ErrorCode::kFailedPrecondition,
                "this data folder was written by a newer footnote (schema {}, this one knows {}): upgrade footnote, or use "
                "another --data folder",
                current, newest_schema());
  }
  FOOTNOTE_CHECK(prepare_pages(database, current));
  for (const Migration& migration : kMigrations) {
    if (migration.number <= current) continue;
    FOOTNOTE_CHECK(apply(database, migration));
    fault_point(FaultPoint::kMigrationBetween);
  }
  return {};
}

}  // namespace footnote
