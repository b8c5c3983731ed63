// Qdrant's API for collections: aliases, payload indexes and snapshots.
#include <algorithm>
#include <set>

#include "api/qdrant_routes.h"

namespace footnote::api {

namespace {

using http::Method;

constexpr std::size_t kNamedVectorsMax = 64;
constexpr std::size_t kAliasChangesMax = 1'000;
constexpr std::size_t kTextKeysMax = 16;

using qdrant::find;
using qdrant::wrong;

struct DistanceName {
  std::string_view name;
  Distance distance;
};
constexpr DistanceName kDistanceNames[] = {
    {"Cosine", Distance::kCosine}, {"Dot", Distance::kDot}, {"Euclid", Distance::kEuclid}, {"Manhattan", Distance::kManhattan}};

std::string_view name_of(Distance distance) { return std::ranges::find(kDistanceNames, distance, &DistanceName::distance)->name; }

Result<NamedSpace> parse_space(std::string_view name, const Json& value, std::string_view path) {
  const JsonObject* object = value.if_object();
  if (object == nullptr) return wrong(path, "must be {{size, distance}}");
  if (find(*object, "multivector_config") != nullptr) {
    return fail_field(ErrorCode::kUnsupported, path, "'{}.multivector_config' is not supported", path);
  }
  const Json* size = find(*object, "size");
  const Json* distance = find(*object, "distance");
  if (size == nullptr || !size->is_int64() || size->get_int64() < 1 || size->get_int64() > 65'536) {
    return wrong(fmt::format("{}.size", path), "must be a whole number above 0");
  }
  const auto known = distance == nullptr || !distance->is_string()
                         ? std::end(kDistanceNames)
                         : std::ranges::find(kDistanceNames, std::string_view(distance->get_string()), &DistanceName::name);
  if (known == std::end(kDistanceNames)) return wrong(fmt::format("{}.distance", path), "must be Cosine, Dot, Euclid or Manhattan");
  return NamedSpace{.name = std::string(name), .dimension = static_cast<int>(size->get_int64()), .distance = known->distance};
}

/// Sets the embedding spaces requested for a collection.
Result<void> parse_spaces(const Json* vectors, const EmbeddingSpace& ours, Corpus& out) {
  const JsonObject* object = vectors == nullptr ? nullptr : vectors->if_object();
  if (vectors != nullptr && object == nullptr) return wrong("vectors", "must be {{size, distance}}, or such by name");
  if (object != nullptr && object->contains("size") && !object->at("size").is_object()) {
    FOOTNOTE_TRY(const NamedSpace space, parse_space("", *vectors, "vectors"));
    const bool comparable = space.dimension == ours.dimension && space.distance == ours.distance;
    out.space = {
        .model_id = comparable ? ours.model_id : std::string(kClientModel), .dimension = space.dimension, .distance = space.distance};
    return {};
  }
  out.space = {.model_id = std::string(kNoModel), .dimension = 1};
  if (object == nullptr) return {};
  if (object->size() == 1 && object->begin()->key().empty()) return parse_spaces(&object->begin()->value(), ours, out);
  if (object->size() > kNamedVectorsMax) return wrong("vectors", "has more than {} names", kNamedVectorsMax);
  for (const auto& entry : *object) {
    const std::string_view name = entry.key();
    FOOTNOTE_TRY(NamedSpace space, parse_space(name, entry.value(), fmt::format("vectors.{}", name)));
    out.named_spaces.push_back(std::move(space));
  }
  return {};
}

/// "payload_text_keys": the paths of a payload's passage, the first that holds a text.
Result<void> check_text_keys(const JsonObject& body) {
  const Json* keys = find(body, "payload_text_keys");
  if (keys == nullptr) return {};
  if (!keys->is_array() || keys->get_array().size() > kTextKeysMax)
    return wrong("payload_text_keys", "must be a list of at most {} keys", kTextKeysMax);
  for (const Json& key : keys->get_array()) FOOTNOTE_CHECK(parse_key(key, "payload_text_keys"));
  return {};
}

/// The other settings of a request: stored and returned. Only payload_text_keys has an effect.
JsonObject config_of(const JsonObject& body, JsonObject before) {
  for (const std::string_view key :
       {"hnsw_config", "optimizers_config", "wal_config", "quantization_config", "on_disk_payload", "metadata", "payload_text_keys"}) {
    if (const Json* value = find(body, key)) before[key] = *value;
  }
  return before;
}

Result<Json> list_collections(const PointCall& point) {
  const PointServices& services = point.services;
  const auto memory = services.catalog.ensure_corpus(point.call, point.caller.workspace, kMemoryCollection, services.embedder.space());
  // It was created in another space but exists.
  if (!memory && memory.error().code != ErrorCode::kFailedPrecondition) return std::unexpected(memory.error());
  FOOTNOTE_TRY(const auto corpora, services.catalog.corpora(point.call, point.caller.workspace));
  JsonArray names;
  for (const Corpus& corpus : corpora) names.push_back(JsonObject{{"name", corpus.name}});
  return JsonObject{{"collections", std::move(names)}};
}

Result<Json> exists(const PointCall& point) {
  const auto found = point.collection();
  if (!found && found.error().code != ErrorCode::kNotFound) return std::unexpected(found.error());
  return JsonObject{{"exists", found.has_value()}};
}

Result<Json> create(const PointCall& point) {
  FOOTNOTE_TRY(const Json json, point.body());
  FOOTNOTE_TRY(const JsonObject* body, body_object(json));
  if (const Json* sparse = find(*body, "sparse_vectors"); sparse != nullptr && !(sparse->is_object() && sparse->get_object().empty())) {
    return fail_field(ErrorCode::kUnsupported, "sparse_vectors",
                      "'sparse_vectors' are not supported: words are found by the keyword index");
  }
  if (find(*body, "init_from") != nullptr) return fail_field(ErrorCode::kUnsupported, "init_from", "'init_from' is not supported");
  FOOTNOTE_CHECK(check_text_keys(*body));
  Collection wanted;
  wanted.corpus.workspace = point.caller.workspace;
  wanted.corpus.name = point.request.param("name");
  FOOTNOTE_CHECK(parse_spaces(find(*body, "vectors"), point.services.embedder.space(), wanted.corpus));
  wanted.config = to_text(config_of(*body, {}));
  FOOTNOTE_CHECK(point.services.points.create_collection(point.call, wanted));
  return true;
}

Result<Json> update(const PointCall& point) {
  FOOTNOTE_TRY(const Json json, point.body());
  FOOTNOTE_TRY(const JsonObject* body, body_object(json));
  FOOTNOTE_CHECK(check_text_keys(*body));
  FOOTNOTE_TRY(const Collection collection, point.collection());
  FOOTNOTE_TRY(const Json before, parse_json(collection.config));
  const std::string config = to_text(config_of(*body, before.is_object() ? before.get_object() : JsonObject{}));
  FOOTNOTE_CHECK(point.services.points.set_config(point.call, collection.corpus.id, config));
  return true;
}

Result<Json> remove(const PointCall& point) {
  const auto collection = point.services.points.collection(point.call, point.caller.workspace, point.request.param("name"));
  if (!collection && collection.error().code == ErrorCode::kNotFound) return false;
  FOOTNOTE_CHECK(collection);
  FOOTNOTE_CHECK(point.services.points.delete_collection(point.call, collection->corpus.id));
  if (point.services.forget_corpus) point.services.forget_corpus(point.call, collection->corpus.id);
  return true;
}

JsonObject render_space(int size, Distance distance) { return {{"size", size}, {"distance", name_of(distance)}}; }

JsonObject render_spaces(const Corpus& corpus) {
  if (has_own_space(corpus)) return render_space(corpus.space.dimension, corpus.space.distance);
  JsonObject out;
  for (const NamedSpace& space : corpus.named_spaces) out[space.name] = render_space(space.dimension, space.distance);
  return out;
}

/// The defaults that clients expect, overridden by the requested values.
JsonObject merged(JsonObject defaults, const JsonObject& config, std::string_view key) {
  const Json* asked = find(config, key);
  if (asked == nullptr || !asked->is_object()) return defaults;
  for (const auto& entry : asked->get_object()) defaults[entry.key()] = entry.value();
  return defaults;
}

Result<JsonObject> render_schema(const PointCall& point, const Corpus& corpus) {
  FOOTNOTE_TRY(const auto indexes, point.services.points.indexes(point.call, corpus.id));
  JsonObject out;
  for (const PayloadIndex& index : indexes) {
    const Json condition = JsonObject{{"must_not", JsonArray{JsonObject{{"is_empty", JsonObject{{"key", index.field}}}}}}};
    FOOTNOTE_TRY(const auto filter, parse_filter(condition));
    FOOTNOTE_TRY(const std::size_t count, point.services.search.count(point.call, corpus, filter, point.work));
    JsonObject entry{{"data_type", to_string(index.kind)}, {"points", count}};
    if (const auto schema = parse_json(index.schema); schema && schema->is_object()) entry["params"] = *schema;
    out[index.field] = std::move(entry);
  }
  return out;
}

Result<Json> info(const PointCall& point) {
  FOOTNOTE_TRY(const Collection collection, point.collection());
  FOOTNOTE_TRY(const CorpusCounts counts, point.services.chunks.counts(point.call, collection.corpus.id));
  const std::int64_t points = counts.chunks - counts.labelled_chunks;  // passages of labelled documents are not points
  FOOTNOTE_TRY(JsonObject schema, render_schema(point, collection.corpus));
  FOOTNOTE_TRY(const Json stored, parse_json(collection.config));
  const JsonObject config = stored.is_object() ? stored.get_object() : JsonObject{};
  const Json* on_disk = find(config, "on_disk_payload");
  const JsonObject params{{"vectors", render_spaces(collection.corpus)},
                          {"shard_number", 1},
                          {"replication_factor", 1},
                          {"write_consistency_factor", 1},
                          {"on_disk_payload", on_disk != nullptr ? *on_disk : Json(true)}};
  const JsonObject hnsw{{"m", 16}, {"ef_construct", 100}, {"full_scan_threshold", 10'000}, {"max_indexing_threads", 0}, {"on_disk", false}};
  const JsonObject optimizer{{"deleted_threshold", 0.2},    {"vacuum_min_vector_number", 1000},   {"default_segment_number", 0},
                             {"max_segment_size", nullptr}, {"memmap_threshold", nullptr},        {"indexing_threshold", 20'000},
                             {"flush_interval_sec", 5},     {"max_optimization_threads", nullptr}};
  const JsonObject wal{{"wal_capacity_mb", 32}, {"wal_segments_ahead", 0}};
  JsonObject shown{{"params", params},
                   {"hnsw_config", merged(hnsw, config, "hnsw_config")},
                   {"optimizer_config", merged(optimizer, config, "optimizers_config")},
                   {"wal_config", merged(wal, config, "wal_config")},
                   {"quantization_config", config.contains("quantization_config") ? config.at("quantization_config") : Json(nullptr)}};
  if (const Json* metadata = find(config, "metadata")) shown["metadata"] = *metadata;
  return JsonObject{{"status", "green"},
                    {"optimizer_status", "ok"},
                    {"points_count", points},
                    {"indexed_vectors_count", points},
                    {"segments_count", 1},
                    {"config", std::move(shown)},
                    {"payload_schema", std::move(schema)}};
}

Json operation_result(Generation generation) { return JsonObject{{"operation_id", generation}, {"status", "completed"}}; }

Result<Json> put_index(const PointCall& point) {
  FOOTNOTE_TRY(const Json json, point.body());
  FOOTNOTE_TRY(const JsonObject* body, body_object(json));
  FOOTNOTE_TRY(const Collection collection, point.collection());
  const Json* field = find(*body, "field_name");
  if (field == nullptr) return wrong("field_name", "is required");
  FOOTNOTE_CHECK(parse_key(*field, "field_name"));
  const Json* schema = find(*body, "field_schema");
  if (schema == nullptr) schema = find(*body, "field_type");
  if (schema == nullptr) return wrong("field_schema", "is required");
  const Json* type = schema->is_object() ? schema->get_object().if_contains("type") : schema;
  const auto kind = type != nullptr && type->is_string() ? parse_payload_kind(type->get_string()) : std::nullopt;
  if (!kind) return wrong("field_schema", "must be keyword, integer, float, geo, text, bool, datetime or uuid");
  FOOTNOTE_CHECK(
      point.services.points.put_index(point.call, collection.corpus.id, {std::string(field->get_string()), *kind, to_text(*schema)}));
  return operation_result(collection.corpus.generation);
}

Result<Json> delete_index(const PointCall& point) {
  FOOTNOTE_TRY(const Collection collection, point.collection());
  FOOTNOTE_CHECK(point.services.points.delete_index(point.call, collection.corpus.id, point.request.param("field")));
  return operation_result(collection.corpus.generation);
}

Result<std::string> alias_text(const JsonObject& object, std::string_view key) {
  const Json* value = find(object, key);
  if (value == nullptr || !value->is_string()) return wrong(key, "must be a text");
  return std::string(value->get_string());
}

Result<AliasChange> parse_alias_change(const Json& value) {
  const JsonObject* action = value.if_object();
  if (action == nullptr || action->size() != 1 || !action->begin()->value().is_object())
    return wrong("actions", "must hold one action each");
  const std::string_view kind = action->begin()->key();
  const JsonObject& body = action->begin()->value().get_object();
  if (kind == "create_alias") {
    MakeAlias change;
    FOOTNOTE_TRY(change.alias, alias_text(body, "alias_name"));
    FOOTNOTE_TRY(change.collection, alias_text(body, "collection_name"));
    return change;
  }
  if (kind == "delete_alias") {
    FOOTNOTE_TRY(std::string alias, alias_text(body, "alias_name"));
    return DropAlias{std::move(alias)};
  }
  if (kind == "rename_alias") {
    RenameAlias change;
    FOOTNOTE_TRY(change.from, alias_text(body, "old_alias_name"));
    FOOTNOTE_TRY(change.to, alias_text(body, "new_alias_name"));
    return change;
  }
  return wrong("actions", "takes create_alias, delete_alias or rename_alias");
}

Result<Json> change_aliases(const PointCall& point) {
  FOOTNOTE_TRY(const Json json, point.body());
  FOOTNOTE_TRY(const JsonObject* body, body_object(json));
  const Json* actions = find(*body, "actions");
  if (actions == nullptr || !actions->is_array()) return wrong("actions", "must be a list");
  if (actions->get_array().size() > kAliasChangesMax) return wrong("actions", "has more than {} entries", kAliasChangesMax);
  std::vector<AliasChange> changes;
  for (const Json& action : actions->get_array()) {
    FOOTNOTE_TRY(AliasChange change, parse_alias_change(action));
    changes.push_back(std::move(change));
  }
  FOOTNOTE_CHECK(point.services.points.change_aliases(point.call, point.caller.workspace, changes));
  return true;
}

JsonObject render_aliases(const std::vector<CollectionAlias>& aliases, std::optional<std::string_view> of) {
  JsonArray out;
  for (const CollectionAlias& alias : aliases) {
    if (!of || alias.collection == *of) out.push_back(JsonObject{{"alias_name", alias.alias}, {"collection_name", alias.collection}});
  }
  return {{"aliases", std::move(out)}};
}

Result<Json> collection_aliases(const PointCall& point) {
  FOOTNOTE_TRY(const Collection collection, point.collection());
  FOOTNOTE_TRY(const auto aliases, point.services.points.aliases(point.call, point.caller.workspace));
  return render_aliases(aliases, collection.corpus.name);
}

}  // namespace

Result<Json> all_aliases(const PointCall& point) {
  FOOTNOTE_TRY(const auto aliases, point.services.points.aliases(point.call, point.caller.workspace));
  return render_aliases(aliases, std::nullopt);
}

namespace {

JsonObject render_snapshot(const points::SnapshotInfo& info) {
  return {{"name", info.name}, {"creation_time", to_rfc3339(info.created_at)}, {"size", info.bytes}, {"checksum", nullptr}};
}

Result<Json> create_snapshot(const PointCall& point) {
  FOOTNOTE_TRY(const Collection collection, point.collection());
  FOOTNOTE_TRY(const auto info, point.services.snapshots.create(point.call, collection));
  return render_snapshot(info);
}

Result<Json> list_snapshots(const PointCall& point) {
  FOOTNOTE_TRY(const Collection collection, point.collection());
  FOOTNOTE_TRY(const auto found, point.services.snapshots.list(point.caller.workspace, collection.corpus.name));
  JsonArray out;
  for (const auto& info : found) out.push_back(render_snapshot(info));
  return out;
}

Result<Json> delete_snapshot(const PointCall& point) {
  FOOTNOTE_CHECK(point.services.snapshots.remove(point.caller.workspace, point.request.param("name"), point.request.param("snapshot")));
  return true;
}

/// Only snapshots of that collection in the data folder: the last part of the location is the name.
Result<Json> recover_snapshot(const PointCall& point) {
  FOOTNOTE_TRY(const Json json, point.body());
  FOOTNOTE_TRY(const JsonObject* body, body_object(json));
  FOOTNOTE_TRY(const std::string location, alias_text(*body, "location"));
  const std::string_view name = point.request.param("name");
  const std::string snapshot = location.substr(location.rfind('/') + 1);
  FOOTNOTE_CHECK(point.services.snapshots.read(point.caller.workspace, name, snapshot));
  FOOTNOTE_CHECK(remove(point));
  FOOTNOTE_CHECK(
      point.services.snapshots.recover(point.call, point.caller.workspace, name, snapshot, point.services.embedder.space().model_id));
  return true;
}

}  // namespace

std::vector<PointRoute> collection_routes() {
  constexpr KeyScope kRead = KeyScope::kRead;
  constexpr KeyScope kWrite = KeyScope::kIngest;
  return {{kRead, Method::kGet, "", list_collections, "Collections in Qdrant's format: each is a corpus"},
          {kWrite, Method::kPost, "/aliases", change_aliases, "Create, delete and rename aliases in one transaction"},
          {kRead, Method::kGet, "/{name}", info, "A collection: its vectors, points and declared keys"},
          {kRead, Method::kGet, "/{name}/exists", exists, "Whether a collection exists"},
          {kWrite, Method::kPut, "/{name}", create, "Create a collection"},
          {kWrite, Method::kPatch, "/{name}", update, "Change a collection's settings, except its vectors"},
          {kWrite, Method::kDelete, "/{name}", remove, "Delete a collection and its points"},
          {kRead, Method::kGet, "/{name}/aliases", collection_aliases, "Aliases of a collection"},
          {kWrite, Method::kPut, "/{name}/index", put_index, "Create a payload index, so that filters on its key are fast"},
          {kWrite, Method::kDelete, "/{name}/index/{field}", delete_index, "Delete a payload index"},
          {kWrite, Method::kPost, "/{name}/snapshots", create_snapshot, "Write a collection to a file of the data folder"},
          {kRead, Method::kGet, "/{name}/snapshots", list_snapshots, "Snapshots of a collection"},
          {kWrite, Method::kDelete, "/{name}/snapshots/{snapshot}", delete_snapshot, "Delete a snapshot"},
          {kWrite, Method::kPut, "/{name}/snapshots/recover", recover_snapshot, "Restore a collection from a snapshot"}};
}

}  // namespace footnote::api
