#include "providers/sqlite/point_rows.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "providers/sqlite/rows.h"
#include "providers/sqlite/stored_json.h"

namespace footnote {

namespace {

constexpr std::byte kNumberMark{0};
constexpr std::byte kUuidMark{1};

Result<PointId> insert_passage(sql::Database& database, CorpusId corpus, ChunkId chunk, const PointId& id) {
  FOOTNOTE_TRY(auto insert,
               database.prepare(R"sql(INSERT INTO points (chunk_id, corpus_id, point_id, vector_names) VALUES (?, ?, ?, '[""]'))sql"));
  insert.bind(chunk.value, corpus.value, std::span<const std::byte>(to_row(id)));
  FOOTNOTE_CHECK(insert.run());
  return id;
}

Result<void> check_named_vectors(const Corpus& corpus, const PointDraft& point) {
  for (const auto& [name, vector] : point.named_vectors) {
    const auto space = std::ranges::find(corpus.named_spaces, name, &NamedSpace::name);
    if (space == corpus.named_spaces.end()) {
      return fail_field(ErrorCode::kFailedPrecondition, "vector", "the corpus '{}' has no vectors named '{}'", corpus.name, name);
    }
    if (vector.size() != static_cast<std::size_t>(space->dimension)) {
      return fail_field(ErrorCode::kFailedPrecondition, "vector", "a vector '{}' has {} numbers instead of {}", name, vector.size(),
                        space->dimension);
    }
    if (!std::ranges::all_of(vector, [](float number) { return std::isfinite(number); })) {
      return fail_field(ErrorCode::kInvalidArgument, "vector", "a vector '{}' holds a number that is not finite", name);
    }
  }
  return {};
}

/// Documents from the web are "web", as indexers of such collections write; others keep their source kind.
std::string_view source_name(std::string_view kind) { return kind == "url" || kind == "sitemap" || kind == "feed" ? "web" : kind; }

}  // namespace

std::vector<std::byte> to_row(const PointId& id) {
  std::vector<std::byte> out;
  if (const auto* number = std::get_if<std::uint64_t>(&id.value)) {
    out.push_back(kNumberMark);
    for (int shift = 56; shift >= 0; shift -= 8) out.push_back(static_cast<std::byte>(*number >> shift));
    return out;
  }
  out.push_back(kUuidMark);
  for (const std::uint8_t byte : std::get<Uuid>(id.value).bytes) out.push_back(std::byte{byte});
  return out;
}

Result<PointId> point_id_from(std::span<const std::byte> bytes) {
  if (bytes.size() == 9 && bytes[0] == kNumberMark) {
    std::uint64_t number = 0;
    for (const std::byte byte : bytes.subspan(1)) number = number << 8 | std::to_integer<std::uint64_t>(byte);
    return PointId{number};
  }
  if (bytes.size() == 17 && bytes[0] == kUuidMark) {
    Uuid uuid;
    std::ranges::transform(bytes.subspan(1), uuid.bytes.begin(), [](std::byte byte) { return std::to_integer<std::uint8_t>(byte); });
    return PointId{uuid};
  }
  return damaged_text("a point's id");
}

Result<std::string> passage_payload(const sql::Statement& row, int first) {
  FOOTNOTE_TRY(const auto attributes, attributes_from_stored_text(row.text(first + 4)));
  FOOTNOTE_TRY(const auto headings, texts_from_stored_text(row.text(first + 5)));
  JsonObject out{{"url", attributes.url.empty() ? row.text(first) : std::string_view(attributes.url)},
                 {"text", stored_text(row.text(first + 6))},
                 {"chunk_ix", row.integer(first + 1)},
                 {"ts", row.integer(first + 2) / 1000},
                 {"source", source_name(row.text(first + 3))},
                 {"title", attributes.title},
                 {"key", row.text(first)}};
  if (!headings.empty()) out["heading"] = to_stored_array(headings);
  if (!attributes.tags.empty()) out["tags"] = to_stored_array(attributes.tags);
  if (!attributes.language.empty()) out["language"] = attributes.language;
  return to_text(out);
}

Result<Point> point_from(const sql::Statement& row) {
  FOOTNOTE_TRY(const PointId id, point_id_from(row.blob(1)));
  Point out{.id = id,
            .chunk = {row.integer(0)},
            .version = row.integer(3),
            .document_key = std::string(row.text(4)),
            .is_passage = row.is_null(2),
            .payload = std::string(row.text(2)),
            .vector = {},
            .named_vectors = {}};
  if (out.is_passage) {
    FOOTNOTE_TRY(out.payload, passage_payload(row, 4));
  }
  return out;
}

std::optional<PayloadKey> payload_key_of(PayloadKind kind, const Json& value) {
  switch (kind) {
    case PayloadKind::kKeyword:
      if (value.is_string()) return PayloadKey{std::string(value.get_string())};
      return std::nullopt;
    case PayloadKind::kUuid:
      if (const auto uuid = value.is_string() ? parse_uuid(value.get_string()) : std::nullopt) return PayloadKey{to_string(*uuid)};
      return std::nullopt;
    case PayloadKind::kInteger:
      if (value.is_int64()) return PayloadKey{value.get_int64()};
      return std::nullopt;
    case PayloadKind::kBool:
      if (value.is_bool()) return PayloadKey{value.get_bool()};
      return std::nullopt;
    case PayloadKind::kFloat:
    case PayloadKind::kGeo:
    case PayloadKind::kText:
    case PayloadKind::kDatetime: return std::nullopt;
  }
  return std::nullopt;
}

Result<std::vector<DeclaredKey>> declared_keys(sql::Database& database, CorpusId corpus) {
  FOOTNOTE_TRY(auto list, database.prepare("SELECT field, kind FROM payload_indexes WHERE corpus_id = ?"));
  list.bind(corpus.value);
  std::vector<DeclaredKey> out;
  auto done = list.each([&](const sql::Statement& row) -> Result<void> {
    const auto kind = parse_payload_kind(row.text(1));
    auto path = parse_json_path(row.text(0));
    if (!kind || !path) return damaged_text("a declared key");
    if (is_looked_up(*kind)) out.push_back({std::string(row.text(0)), *kind, *std::move(path)});
    return {};
  });
  FOOTNOTE_CHECK(std::move(done));
  return out;
}

Result<void> add_payload_values(sql::Database& database, CorpusId corpus, ChunkId chunk, const std::vector<DeclaredKey>& keys,
                                std::string_view payload) {
  if (keys.empty()) return {};
  const auto value = parse_json(payload);
  if (!value || !value->is_object()) return damaged_text("a payload");
  // A value that occurs twice in a list is stored once.
  FOOTNOTE_TRY(auto insert, database.prepare("INSERT INTO payload_values (corpus_id, field, value, chunk_id) VALUES (?, ?, ?, ?) "
                                             "ON CONFLICT DO NOTHING"));
  Result<void> outcome;
  for (const DeclaredKey& key : keys) {
    visit_elements(value->get_object(), key.path, [&](const Json& element) {
      const auto found = payload_key_of(key.kind, element);
      if (!found || !outcome) return;
      std::visit([&](const auto& known) { insert.bind(corpus.value, key.field, known, chunk.value); }, *found);
      outcome = insert.run();
    });
  }
  return outcome;
}

Result<void> PointRows::check(const DocumentDraft& draft) const {
  for (const ChunkDraft& chunk : draft.chunks) {
    if (!chunk.point) continue;
    FOOTNOTE_CHECK(check_named_vectors(corpus_, *chunk.point));
    const auto payload = parse_json(chunk.point->payload);
    if (!payload || !payload->is_object()) {
      return fail_field(ErrorCode::kInvalidArgument, "payload", "the payload of '{}' is not a JSON object", draft.key);
    }
  }
  return {};
}

Result<bool> PointRows::is_taken(const PointId& id) {
  FOOTNOTE_TRY(auto find, database_.prepare("SELECT 1 FROM points p JOIN chunks c ON c.id = p.chunk_id "
                                            "WHERE p.corpus_id = ? AND p.point_id = ? AND c.died IS NULL"));
  find.bind(corpus_.id.value, std::span<const std::byte>(to_row(id)));
  return find.step();
}

/// Two documents may claim the same URL: the later one then gets an id from its key.
Result<PointId> PointRows::free_id(ChunkId chunk, const DocumentDraft& draft, int ordinal) {
  for (const std::string& name : {draft.attributes.url, draft.key}) {
    if (name.empty()) continue;
    const PointId id = point_of_passage(name, ordinal);
    FOOTNOTE_TRY(const bool taken, is_taken(id));
    if (!taken) return id;
  }
  return point_of_passage(fmt::format("{}#{}", draft.key, ordinal), static_cast<int>(chunk.value));
}

Result<void> PointRows::add(ChunkId chunk, const DocumentDraft& draft, int ordinal) {
  const std::optional<PointDraft>& point = draft.chunks[static_cast<std::size_t>(ordinal)].point;
  if (!point) {
    FOOTNOTE_TRY(const PointId id, free_id(chunk, draft, ordinal));
    FOOTNOTE_CHECK(insert_passage(database_, corpus_.id, chunk, id));
    return add_values(chunk, point);
  }
  FOOTNOTE_TRY(const bool taken, is_taken(point->id));
  if (taken) return fail_field(ErrorCode::kAlreadyExists, "id", "the point {} already exists in another document", to_string(point->id));
  std::vector<std::string> names;
  if (!draft.chunks[static_cast<std::size_t>(ordinal)].vectors.empty()) names.emplace_back();
  FOOTNOTE_TRY(auto insert_vector, database_.prepare("INSERT INTO point_vectors (chunk_id, name, vector) VALUES (?, ?, ?)"));
  for (const auto& [name, vector] : point->named_vectors) {
    insert_vector.bind(chunk.value, name, std::as_bytes(std::span(vector)));
    FOOTNOTE_CHECK(insert_vector.run());
    names.push_back(name);
  }
  FOOTNOTE_TRY(auto insert,
               database_.prepare("INSERT INTO points (chunk_id, corpus_id, point_id, vector_names, payload) VALUES (?, ?, ?, ?, ?)"));
  insert.bind(chunk.value, corpus_.id.value, std::span<const std::byte>(to_row(point->id)), to_stored_text(names), point->payload);
  FOOTNOTE_CHECK(insert.run());
  return add_values(chunk, point);
}

Result<void> PointRows::add_values(ChunkId chunk, const std::optional<PointDraft>& point) {
  if (!declared_) {
    FOOTNOTE_TRY(declared_, declared_keys(database_, corpus_.id));
  }
  if (declared_->empty()) return {};
  if (point) return add_payload_values(database_, corpus_.id, chunk, *declared_, point->payload);
  FOOTNOTE_TRY(auto find, database_.prepare("SELECT key, ordinal, indexed_at, source_kind, attributes, heading_path, text "
                                            "FROM point_records WHERE chunk_id = ?"));
  find.bind(chunk.value);
  FOOTNOTE_CHECK(find.step());
  FOOTNOTE_TRY(const std::string payload, passage_payload(find, 0));
  return add_payload_values(database_, corpus_.id, chunk, *declared_, payload);
}

Result<void> read_named_vectors(sql::Database& database, const Corpus& corpus, IndexChanges& changes) {
  changes.distance = corpus.space.distance;
  changes.named_spaces = corpus.named_spaces;
  if (corpus.named_spaces.empty()) return {};
  std::unordered_map<std::int64_t, IndexRow*> rows;
  for (IndexRow& row : changes.added) rows.emplace(row.chunk.value, &row);
  FOOTNOTE_TRY(auto select, database.prepare("SELECT c.id, v.name, v.vector FROM chunks c JOIN point_vectors v ON v.chunk_id = c.id "
                                             "WHERE c.corpus_id = ? AND c.born > ? AND c.born <= ?"));
  select.bind(corpus.id.value, changes.from, changes.to);
  return select.each([&](const sql::Statement& row) -> Result<void> {
    const std::string name(row.text(1));
    const auto space = std::ranges::find(corpus.named_spaces, name, &NamedSpace::name);
    const auto owner = rows.find(row.integer(0));
    if (space == corpus.named_spaces.end() || owner == rows.end()) return damaged_text("a point's vector");
    FOOTNOTE_TRY(owner->second->named_vectors[name], unpack_vectors(row.blob(2), 1, space->dimension));
    return {};
  });
}

Result<void> add_missing_points(sql::Database& database) {
  FOOTNOTE_TRY(auto list, database.prepare(R"sql(
    SELECT c.id, c.corpus_id, c.ordinal, d.key, v.attributes, c.died IS NULL FROM chunks c
    JOIN documents d ON d.id = c.document_id
    JOIN document_versions v ON v.document_id = c.document_id AND v.version = c.document_version
    WHERE c.id NOT IN (SELECT chunk_id FROM points) ORDER BY c.id)sql"));
  list.bind();
  return list.each([&](const sql::Statement& row) -> Result<void> {
    DocumentDraft draft;
    draft.key = row.text(3);
    FOOTNOTE_TRY(draft.attributes, attributes_from_stored_text(row.text(4)));
    const Corpus corpus{.id = {row.integer(1)}, .workspace = {}, .name = {}, .space = {}, .generation = 0, .created_at = {}};
    draft.chunks.resize(static_cast<std::size_t>(row.integer(2)) + 1);
    return PointRows(database, corpus).add({row.integer(0)}, draft, static_cast<int>(row.integer(2)));
  });
}

}  // namespace footnote
