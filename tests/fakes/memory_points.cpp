#include <algorithm>

#include "base/json_path.h"
#include "fakes/memory_store.h"

namespace footnote::fakes {

namespace {

bool is_visible(const Chunk& chunk, Generation generation) { return chunk.born <= generation && (!chunk.died || *chunk.died > generation); }

std::optional<PayloadKey> key_of(PayloadKind kind, const Json& value) {
  if (kind == PayloadKind::kKeyword && value.is_string()) return PayloadKey{std::string(value.get_string())};
  if (kind == PayloadKind::kInteger && value.is_int64()) return PayloadKey{value.get_int64()};
  if (kind == PayloadKind::kBool && value.is_bool()) return PayloadKey{value.get_bool()};
  const auto uuid = kind == PayloadKind::kUuid && value.is_string() ? parse_uuid(value.get_string()) : std::nullopt;
  if (uuid) return PayloadKey{to_string(*uuid)};
  return std::nullopt;
}

bool fits(PayloadKind kind, const PayloadKey& key) {
  const Json value = std::visit([](const auto& known) { return Json(known); }, key);
  return key_of(kind, value) == key;
}

}  // namespace

Point MemoryStore::point_from(const StoredChunk& stored) {
  Point out;
  out.chunk = stored.chunk.id;
  out.version = stored.chunk.born;
  out.document_key = stored.document_key;
  if (!stored.vectors.empty()) out.vector = stored.vectors.front();
  out.is_passage = !stored.point;
  if (stored.point) {
    out.id = stored.point->id;
    out.payload = stored.point->payload;
    out.named_vectors = stored.point->named_vectors;
    return out;
  }
  const std::string& name = stored.attributes.url.empty() ? stored.document_key : stored.attributes.url;
  out.id = point_of_passage(name, stored.chunk.ordinal);
  out.payload = to_text(JsonObject{{"url", name},
                                   {"text", stored.chunk.text},
                                   {"chunk_ix", stored.chunk.ordinal},
                                   {"ts", stored.indexed_at.time_since_epoch().count() / 1000},
                                   {"source", ""},
                                   {"title", stored.attributes.title},
                                   {"key", stored.document_key}});
  return out;
}

Result<std::vector<Point>> MemoryStore::points(const CallContext&, CorpusId corpus, std::span<const PointId> ids, PointVectors) const {
  MutexLock lock(mutex_);
  FOOTNOTE_TRY(const StoredCorpus* from, stored(corpus));
  std::vector<Point> out;
  for (const PointId& id : ids) {
    for (const auto& [chunk, stored] : from->chunks) {
      if (Point point = point_from(stored); !stored.chunk.died && point.id == id) out.push_back(std::move(point));
    }
  }
  return out;
}

Result<std::vector<Point>> MemoryStore::points_of(const CallContext&, CorpusId corpus, std::span<const ChunkId> chunks,
                                                  PointVectors) const {
  MutexLock lock(mutex_);
  FOOTNOTE_TRY(const StoredCorpus* from, stored(corpus));
  std::vector<Point> out;
  for (const ChunkId chunk : chunks) {
    if (const auto found = from->chunks.find(chunk); found != from->chunks.end()) out.push_back(point_from(found->second));
  }
  return out;
}

Result<std::vector<Point>> MemoryStore::scroll(const CallContext&, CorpusId corpus, const std::optional<PointId>& from, std::size_t limit,
                                               PointVectors) const {
  MutexLock lock(mutex_);
  FOOTNOTE_TRY(const StoredCorpus* in, stored(corpus));
  std::vector<Point> out;
  for (const auto& [chunk, stored] : in->chunks) {
    if (Point point = point_from(stored); !stored.chunk.died && (!from || point.id >= *from)) out.push_back(std::move(point));
  }
  std::ranges::sort(out, {}, &Point::id);
  if (out.size() > limit) out.resize(limit);
  return out;
}

Result<void> MemoryStore::each(const CallContext& call, CorpusId corpus, const std::function<Result<void>(const Point&)>& take) const {
  FOOTNOTE_TRY(const auto all, scroll(call, corpus, std::nullopt, SIZE_MAX, PointVectors::kRead));
  for (const Point& point : all) FOOTNOTE_CHECK(take(point));
  return {};
}

Result<void> MemoryStore::visit(const CallContext&, CorpusId corpus, Generation generation, const std::vector<ChunkId>* among,
                                const PointVisitor& visitor) const {
  MutexLock lock(mutex_);
  FOOTNOTE_TRY(const StoredCorpus* from, stored(corpus));
  for (const auto& [chunk, stored] : from->chunks) {
    if (!is_visible(stored.chunk, generation)) continue;
    if (among != nullptr && std::ranges::find(*among, chunk) == among->end()) continue;
    const Point point = point_from(stored);
    std::vector<std::string_view> names;
    if (!point.vector.empty()) names.emplace_back();
    for (const auto& [name, vector] : point.named_vectors) names.emplace_back(name);
    FOOTNOTE_CHECK(visitor({.chunk = chunk, .id = point.id, .payload = point.payload, .vectors = names}));
  }
  return {};
}

Result<std::optional<std::vector<ChunkId>>> MemoryStore::looked_up(const CallContext&, CorpusId corpus, Generation generation,
                                                                   std::string_view field, std::span<const PayloadKey> values) const {
  MutexLock lock(mutex_);
  FOOTNOTE_TRY(const StoredCorpus* from, stored(corpus));
  const auto index = from->indexes.find(field);
  if (index == from->indexes.end()) return std::nullopt;
  const PayloadKind kind = index->second.kind;
  if (!std::ranges::all_of(values, [&](const PayloadKey& value) { return fits(kind, value); })) return std::nullopt;
  FOOTNOTE_TRY(const JsonPath path, parse_json_path(field));
  std::vector<ChunkId> out;
  for (const auto& [chunk, stored] : from->chunks) {
    if (!is_visible(stored.chunk, generation)) continue;
    FOOTNOTE_TRY(const Json payload, parse_json(point_from(stored).payload));
    bool any = false;
    visit_elements(payload.get_object(), path, [&](const Json& value) {
      const auto key = key_of(kind, value);
      any = any || (key && std::ranges::find(values, *key) != values.end());
    });
    if (any) out.push_back(chunk);
  }
  return out;
}

Result<void> MemoryStore::put_index(const CallContext&, CorpusId corpus, const PayloadIndex& index) {
  FOOTNOTE_CHECK(parse_json_path(index.field));
  MutexLock lock(mutex_);
  FOOTNOTE_TRY(StoredCorpus * into, stored(corpus));
  into->indexes[index.field] = index;
  return {};
}

Result<bool> MemoryStore::delete_index(const CallContext&, CorpusId corpus, std::string_view field) {
  MutexLock lock(mutex_);
  FOOTNOTE_TRY(StoredCorpus * from, stored(corpus));
  const auto found = from->indexes.find(field);
  if (found == from->indexes.end()) return false;
  from->indexes.erase(found);
  return true;
}

Result<std::vector<PayloadIndex>> MemoryStore::indexes(const CallContext&, CorpusId corpus) const {
  MutexLock lock(mutex_);
  FOOTNOTE_TRY(const StoredCorpus* from, stored(corpus));
  std::vector<PayloadIndex> out;
  for (const auto& [field, index] : from->indexes) out.push_back(index);
  return out;
}

const MemoryStore::StoredCorpus* MemoryStore::find_named(WorkspaceId workspace, std::string_view name) const {
  for (const auto& [id, stored] : corpora_) {
    if (stored.corpus.workspace == workspace && stored.corpus.name == name) return &stored;
  }
  return nullptr;
}

Result<Collection> MemoryStore::collection(const CallContext&, WorkspaceId workspace, std::string_view name) const {
  MutexLock lock(mutex_);
  const StoredCorpus* found = find_named(workspace, name);
  if (const auto alias = aliases_.find({workspace, std::string(name)}); found == nullptr && alias != aliases_.end()) {
    found = &corpora_.at(alias->second);
  }
  if (found == nullptr) return fail(ErrorCode::kNotFound, "no collection '{}'", name);
  return Collection{found->corpus, found->config};
}

Result<Collection> MemoryStore::create_collection(const CallContext&, const Collection& wanted) {
  MutexLock lock(mutex_);
  if (wanted.corpus.name.empty()) return fail_field(ErrorCode::kInvalidArgument, "name", "a collection needs a name");
  if (wanted.corpus.space.dimension < 1) return fail_field(ErrorCode::kInvalidArgument, "size", "a vector has numbers");
  const bool taken = find_named(wanted.corpus.workspace, wanted.corpus.name) != nullptr ||
                     aliases_.contains({wanted.corpus.workspace, wanted.corpus.name});
  if (taken) return fail(ErrorCode::kAlreadyExists, "'{}' is there", wanted.corpus.name);
  if (std::ranges::find(workspaces_, wanted.corpus.workspace, &Workspace::id) == workspaces_.end()) {
    return fail(ErrorCode::kNotFound, "no such workspace");
  }
  StoredCorpus made;
  made.corpus = wanted.corpus;
  made.corpus.id = {next_id()};
  made.corpus.created_at = clock_.now();
  made.config = wanted.config;
  const StoredCorpus& stored = corpora_.emplace(made.corpus.id, made).first->second;
  return Collection{stored.corpus, stored.config};
}

Result<void> MemoryStore::set_config(const CallContext&, CorpusId corpus, std::string_view config) {
  MutexLock lock(mutex_);
  FOOTNOTE_TRY(StoredCorpus * into, stored(corpus));
  into->config = config;
  return {};
}

Result<void> MemoryStore::delete_collection(const CallContext&, CorpusId corpus) {
  MutexLock lock(mutex_);
  FOOTNOTE_CHECK(stored(corpus));
  std::erase_if(aliases_, [&](const auto& entry) { return entry.second == corpus; });
  corpora_.erase(corpus);
  return {};
}

Result<std::vector<CollectionAlias>> MemoryStore::aliases(const CallContext&, WorkspaceId workspace) const {
  MutexLock lock(mutex_);
  std::vector<CollectionAlias> out;
  for (const auto& [key, corpus] : aliases_) {
    if (key.first == workspace) out.push_back({key.second, corpora_.at(corpus).corpus.name});
  }
  return out;
}

Result<void> MemoryStore::change_aliases(const CallContext&, WorkspaceId workspace, std::span<const AliasChange> changes) {
  MutexLock lock(mutex_);
  auto next = aliases_;
  const auto take = [&](const std::string& alias) -> Result<CorpusId> {
    const auto found = next.find({workspace, alias});
    if (found == next.end()) return fail_field(ErrorCode::kNotFound, "alias_name", "no alias '{}'", alias);
    const CorpusId corpus = found->second;
    next.erase(found);
    return corpus;
  };
  const auto put = [&](const std::string& alias, CorpusId corpus) -> Result<void> {
    if (find_named(workspace, alias) != nullptr) return fail_field(ErrorCode::kAlreadyExists, "alias_name", "'{}' is a collection", alias);
    next[{workspace, alias}] = corpus;
    return {};
  };
  for (const AliasChange& change : changes) {
    if (const auto* made = std::get_if<MakeAlias>(&change)) {
      const StoredCorpus* corpus = find_named(workspace, made->collection);
      if (corpus == nullptr) return fail_field(ErrorCode::kNotFound, "collection_name", "no collection '{}'", made->collection);
      FOOTNOTE_CHECK(put(made->alias, corpus->corpus.id));
    } else if (const auto* dropped = std::get_if<DropAlias>(&change)) {
      FOOTNOTE_CHECK(take(dropped->alias));
    } else {
      const auto& renamed = std::get<RenameAlias>(change);
      FOOTNOTE_TRY(const CorpusId corpus, take(renamed.from));
      FOOTNOTE_CHECK(put(renamed.to, corpus));
    }
  }
  aliases_ = std::move(next);
  return {};
}

}  // namespace footnote::fakes
