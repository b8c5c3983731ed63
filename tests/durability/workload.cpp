#include "durability/workload.h"

#include "base/crc32c.h"
#include "contracts/chunk_drafts.h"

namespace footnote::durability {

namespace {

const EmbeddingSpace kSpace{"test-model", contract::kDimension};

std::string sum_of(std::span<const float> values) { return fmt::format("{:08x}", crc32c(std::as_bytes(values))); }
std::string shortened(const std::string& text) {
  return fmt::format("{} bytes {:08x}", text.size(), crc32c(std::as_bytes(std::span(text))));
}

std::string document_fact(const std::string& text, const std::vector<ChunkDraft>& chunks) {
  std::string out = shortened(text);
  for (const ChunkDraft& chunk : chunks) out += fmt::format("; {} {}", shortened(chunk.text), sum_of(chunk.vectors.at(0)));
  return out;
}
std::string document_name(const std::string& corpus, const std::string& key) { return fmt::format("document {}/{}", corpus, key); }

struct Place {
  WorkspaceId workspace;
  CorpusId corpus;
};
Result<Place> default_place(SqliteStore& store) {
  SqliteCatalogStore catalog(store);
  FOOTNOTE_TRY(const Workspace workspace, catalog.find_workspace({}, kDefaultWorkspace));
  FOOTNOTE_TRY(const Corpus corpus, catalog.ensure_corpus({}, workspace.id, kDefaultCorpus, kSpace));
  return Place{workspace.id, corpus.id};
}

/// "corpus memory" and the documents in it.
Result<void> read_corpus(SqliteStore& store, const Corpus& corpus, Facts& facts) {
  SqliteChunkStore chunks(store);
  facts["corpus " + corpus.name] = fmt::format("generation {}", corpus.generation);
  FOOTNOTE_TRY(const IndexChanges changes, chunks.changes({}, corpus.id, 0, 1'000'000));
  std::map<ChunkId, Generation> died;
  for (const IndexRemoval& removal : changes.removed) died[removal.chunk] = removal.died;
  std::map<std::string, std::vector<ChunkDraft>> live;
  for (const IndexRow& row : changes.added) {
    if (died.contains(row.chunk)) continue;
    ChunkDraft chunk;
    chunk.text = row.text;
    chunk.vectors = row.vectors;
    live[row.document_key].push_back(std::move(chunk));
  }
  FOOTNOTE_TRY(const auto documents, chunks.documents({}, corpus.id, "", 10'000));
  for (const Document& document : documents) {
    FOOTNOTE_TRY(const DocumentText text, chunks.document_text({}, corpus.workspace, document.id, 0));
    facts[document_name(corpus.name, document.key)] = document_fact(text.text, live[document.key]);
    live.erase(document.key);
  }
  for (const auto& [key, orphans] : live) facts["orphans of " + key] = fmt::format("{} chunks", orphans.size());
  return {};
}

Result<void> read_rows(SqliteStore& store, sql::SqlText query, Facts& facts) {
  return store.read({}, [&](sql::Database& database) -> Result<void> {
    FOOTNOTE_TRY(auto rows, database.prepare(query));
    return rows.each([&](const sql::Statement& row) -> Result<void> {
      facts[std::string(row.text(0))] = row.text(1);
      return {};
    });
  });
}

}  // namespace

Result<Facts> read_facts(SqliteStore& store) {
  Facts facts;
  SqliteCatalogStore catalog(store);
  FOOTNOTE_TRY(const Workspace workspace, catalog.find_workspace({}, kDefaultWorkspace));
  FOOTNOTE_TRY(const auto corpora, catalog.corpora({}, workspace.id));
  for (const Corpus& corpus : corpora) FOOTNOTE_CHECK(read_corpus(store, corpus, facts));
  FOOTNOTE_CHECK(read_rows(store, "SELECT 'source ' || location, ifnull(synced_at, 'never') FROM sources", facts));
  FOOTNOTE_CHECK(read_rows(store, "SELECT 'turn ' || id, question FROM turns", facts));
  FOOTNOTE_CHECK(read_rows(store, "SELECT 'event ' || type || ' ' || payload, '' FROM events", facts));
  FOOTNOTE_CHECK(read_rows(store, "SELECT 'gap ' || question, occurrences FROM gaps", facts));
  FOOTNOTE_CHECK(read_rows(store, "SELECT 'usage', sum(questions) FROM usage_days HAVING count(*) > 0", facts));
  return facts;
}

std::string Workload::text(std::size_t bytes_max) {
  std::string out = fmt::format("{} ", ++serial_);
  const std::size_t size = 1 + below(bytes_max);
  while (out.size() < size) out += fmt::format("{:x} ", random_());
  return out;
}

Step Workload::next() {
  clock_.advance(std::chrono::seconds{1});
  // Create the corpus first, so that each later step is one commit.
  if (!facts_.contains("corpus memory")) return corpus("memory");
  switch (below(12)) {
    case 0: return purge();
    case 1:
    case 2:
    case 3: return turn();
    case 4: return source();
    case 5: return event();
    case 6: return corpus(fmt::format("c{}", below(4)));
    default: return commit();
  }
}

Step Workload::commit() {
  std::vector<DocumentDraft> drafts;
  std::vector<std::string> deleted;
  Facts after = facts_;
  std::string name = "commit";
  for (int key = 0; key < 12; ++key) {
    if (below(5) != 0) continue;
    const std::string path = fmt::format("{}.md", key);
    const std::string fact = document_name("memory", path);
    if (below(3) == 0) {
      deleted.push_back(path);
      after.erase(fact);
      name += " -" + path;
      continue;
    }
    std::vector<std::string> texts;
    for (std::size_t chunks = 1 + below(5); chunks > 0; --chunks) texts.push_back(text(below(8) == 0 ? 30'000 : 900));
    drafts.push_back(contract::draft_of(path, texts));
    after[fact] = document_fact(drafts.back().text, drafts.back().chunks);
    name += " " + path;
  }
  const bool changes = after != facts_;
  const int before = std::stoi(facts_.at("corpus memory").substr(sizeof "generation"));
  after["corpus memory"] = fmt::format("generation {}", before + (changes ? 1 : 0));
  const auto run = [drafts, deleted](SqliteStore& store) -> Result<void> {
    FOOTNOTE_TRY(const Place place, default_place(store));
    FOOTNOTE_CHECK(SqliteChunkStore(store).commit({}, place.corpus, drafts, deleted));
    return {};
  };
  return {name, run, std::move(after)};
}

Step Workload::purge() {
  const auto run = [now = clock_.now()](SqliteStore& store) -> Result<void> {
    SqliteCatalogStore catalog(store);
    FOOTNOTE_TRY(const Workspace workspace, catalog.find_workspace({}, kDefaultWorkspace));
    FOOTNOTE_TRY(const auto corpora, catalog.corpora({}, workspace.id));
    for (const Corpus& corpus : corpora) FOOTNOTE_CHECK(SqliteChunkStore(store).purge({}, corpus.id, now));
    return {};
  };
  return {"purge", run, facts_};
}

Step Workload::turn() {
  const std::string id = fmt::format("t{}", ++serial_);
  const bool refused = below(2) == 0;
  const std::string question = refused ? fmt::format("why {}", below(3)) : text(4000);
  Facts after = facts_;
  after["turn " + id] = question;
  after[fmt::format(R"(event turn.completed {{"turn_id":"{}"}})", id)] = "";
  const auto count = [&](const std::string& name) { after[name] = std::to_string(after.contains(name) ? std::stoi(after[name]) + 1 : 1); };
  count("usage");
  if (refused) count("gap " + question);
  const auto run = [id, question, refused, now = clock_.now()](SqliteStore& store) -> Result<void> {
    FOOTNOTE_TRY(const Place place, default_place(store));
    Turn turn{
        .id = {id}, .workspace = place.workspace, .corpus = place.corpus, .conversation = {"c1"}, .question = question, .asked_at = now};
    turn.outcome = refused ? Outcome(Refusal{.text = "no"}) : Outcome(Answer{.text = "yes"});
    return SqliteConversationStore(store).finish_turn({}, turn, 1, 2, "{}");
  };
  return {"turn " + id, run, std::move(after)};
}

Step Workload::corpus(const std::string& name) {
  Facts after = facts_;
  after.try_emplace("corpus " + name, "generation 0");
  const auto run = [name](SqliteStore& store) -> Result<void> {
    SqliteCatalogStore catalog(store);
    FOOTNOTE_TRY(const Workspace workspace, catalog.find_workspace({}, kDefaultWorkspace));
    FOOTNOTE_CHECK(catalog.ensure_corpus({}, workspace.id, name, kSpace));
    return {};
  };
  return {"corpus " + name, run, std::move(after)};
}

Step Workload::source() {
  const std::string location = fmt::format("/s{}", below(4));
  const std::string fact = "source " + location;
  Facts after = facts_;
  // Creating and marking it are separate commits.
  const bool known = facts_.contains(fact);
  after[fact] = known ? std::to_string(clock_.now().time_since_epoch().count()) : "never";
  const auto run = [location, known, now = clock_.now()](SqliteStore& store) -> Result<void> {
    SqliteCatalogStore catalog(store);
    FOOTNOTE_TRY(const Place place, default_place(store));
    FOOTNOTE_TRY(const Source source, catalog.ensure_source({}, place.corpus, SourceKind::kFolder, location));
    return known ? catalog.mark_synced({}, source.id, now) : Result<void>{};
  };
  return {fact, run, std::move(after)};
}

Step Workload::event() {
  const std::string type = fmt::format("e{}", ++serial_);
  Facts after = facts_;
  after["event " + type + " {}"] = "";
  const auto run = [type, now = clock_.now()](SqliteStore& store) -> Result<void> {
    SqliteCatalogStore catalog(store);
    FOOTNOTE_TRY(const Workspace workspace, catalog.find_workspace({}, kDefaultWorkspace));
    return SqliteEventSink(store).append({}, {.workspace = workspace.id, .type = type, .payload = "{}", .happened_at = now});
  };
  return {"event " + type, run, std::move(after)};
}

}  // namespace footnote::durability
