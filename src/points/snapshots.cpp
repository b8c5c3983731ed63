#include "points/snapshots.h"

#include <algorithm>

#include "base/ids.h"
#include "base/sha256.h"
#include "base/text.h"

namespace footnote::points {

namespace {

constexpr std::string_view kSuffix = ".snapshot";
constexpr int kFormat = 1;
constexpr std::string_view kDistances[] = {"cosine", "dot", "euclid", "manhattan"};

std::string_view name_of(Distance distance) { return kDistances[static_cast<std::size_t>(distance)]; }

Result<Distance> distance_from(std::string_view name) {
  const auto found = std::ranges::find(kDistances, name);
  if (found == std::end(kDistances)) return fail(ErrorCode::kCorrupted, "the snapshot names an unknown distance");
  return static_cast<Distance>(found - std::begin(kDistances));
}

JsonArray floats(const std::vector<float>& vector) {
  JsonArray out;
  for (const float number : vector) out.push_back(json_number(number));
  return out;
}

JsonObject head_of(const Collection& collection, const std::vector<PayloadIndex>& indexes) {
  const Corpus& corpus = collection.corpus;
  JsonArray spaces;
  for (const NamedSpace& space : corpus.named_spaces) {
    spaces.push_back(JsonObject{{"name", space.name}, {"size", space.dimension}, {"distance", name_of(space.distance)}});
  }
  JsonArray keys;
  for (const PayloadIndex& index : indexes) {
    keys.push_back(JsonObject{{"field", index.field}, {"kind", to_string(index.kind)}, {"schema", index.schema}});
  }
  return {{"footnote_snapshot", kFormat},
          {"collection", corpus.name},
          {"model", corpus.space.model_id},
          {"size", corpus.space.dimension},
          {"distance", name_of(corpus.space.distance)},
          {"named", std::move(spaces)},
          {"config", collection.config},
          {"indexes", std::move(keys)}};
}

std::string line_of(const Point& point) {
  JsonObject vectors;
  if (!point.vector.empty()) vectors[""] = floats(point.vector);
  for (const auto& [name, vector] : point.named_vectors) vectors[name] = floats(vector);
  const std::string rest = to_text(JsonObject{{"id", to_string(point.id)}, {"vectors", std::move(vectors)}});
  return fmt::format("{},\"payload\":{}}}\n", std::string_view(rest).substr(0, rest.size() - 1), point.payload);
}

std::unexpected<Error> damaged() { return fail(ErrorCode::kCorrupted, "the snapshot can't be read: it is damaged or has another format"); }

std::string text_at(const JsonObject& object, std::string_view key) {
  const Json* value = object.if_contains(key);
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
}

Result<int> size_at(const JsonObject& object) {
  const Json* value = object.if_contains("size");
  if (value == nullptr || !value->is_int64() || value->get_int64() < 1 || value->get_int64() > 1 << 20) return damaged();
  return static_cast<int>(value->get_int64());
}

const JsonArray& list_at(const JsonObject& object, std::string_view key) {
  static const JsonArray none;
  const Json* value = object.if_contains(key);
  return value != nullptr && value->is_array() ? value->get_array() : none;
}

Result<NewPoint> point_of(std::string_view line) {
  const auto value = parse_json(line);
  if (!value || !value->is_object()) return damaged();
  const JsonObject& object = value->get_object();
  const auto id = parse_point_id(text_at(object, "id"));
  const Json* vectors = object.if_contains("vectors");
  const Json* payload = object.if_contains("payload");
  if (!id || vectors == nullptr || !vectors->is_object() || payload == nullptr || !payload->is_object()) return damaged();
  NewPoint out{.id = *id, .vectors = {}, .payload = payload->get_object()};
  for (const auto& entry : vectors->get_object()) {
    if (!entry.value().is_array()) return damaged();
    std::vector<float>& vector = out.vectors[std::string(entry.key())];
    for (const Json& number : entry.value().get_array()) {
      if (!number.is_number()) return damaged();
      vector.push_back(static_cast<float>(number.to_number<double>()));
    }
  }
  return out;
}

}  // namespace

std::filesystem::path Snapshots::folder_of(WorkspaceId workspace, std::string_view collection) const {
  // Hexadecimal, so that a collection's name cannot escape the folder; long names are hashed, so that no two share a folder.
  constexpr std::size_t kHexCharsMax = 200;
  const std::string hex = to_hex(collection);
  return folder_ / fmt::format("{}-{}", workspace.value, hex.size() <= kHexCharsMax ? hex : "sha256-" + sha256_hex(collection));
}

Result<std::filesystem::path> Snapshots::path_of(WorkspaceId workspace, std::string_view collection, std::string_view name) const {
  const bool good = name.ends_with(kSuffix) && name.find('/') == std::string_view::npos && !name.starts_with('.');
  std::filesystem::path path = folder_of(workspace, collection) / (good ? name : "none");
  std::error_code ignored;
  if (!good || !std::filesystem::is_regular_file(path, ignored)) return fail(ErrorCode::kNotFound, "Snapshot {} not found", name);
  return path;
}

Result<SnapshotInfo> Snapshots::create(const CallContext& call, const Collection& collection) const {
  const std::filesystem::path folder = folder_of(collection.corpus.workspace, collection.corpus.name);
  FOOTNOTE_TRY(const auto earlier, list(collection.corpus.workspace, collection.corpus.name));
  if (earlier.size() >= kSnapshotsPerCollectionMax) {
    return fail(ErrorCode::kFailedPrecondition, "the collection has {} snapshots, which is the maximum; delete some", earlier.size());
  }
  FOOTNOTE_CHECK(make_folders(folder));
  const UtcTime now = clock_.now();
  const std::string name = fmt::format("{}-{}-{}{}", collection.corpus.id.value, now.time_since_epoch().count(), random_base62(6), kSuffix);
  FOOTNOTE_TRY(const auto indexes, store_.indexes(call, collection.corpus.id));
  FOOTNOTE_TRY(AtomicFile file, AtomicFile::create(folder / name));
  std::uint64_t bytes = 0;
  const auto write = [&](std::string_view line) -> Result<void> {
    bytes += line.size();
    return file.write(std::as_bytes(std::span(line)));
  };
  FOOTNOTE_CHECK(write(to_text(head_of(collection, indexes)) + "\n"));
  FOOTNOTE_CHECK(store_.each(call, collection.corpus.id, [&](const Point& point) { return write(line_of(point)); }));
  FOOTNOTE_CHECK(file.commit());
  return SnapshotInfo{.name = name, .created_at = now, .bytes = bytes};
}

Result<std::vector<SnapshotInfo>> Snapshots::list(WorkspaceId workspace, std::string_view collection) const {
  std::vector<SnapshotInfo> out;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder_of(workspace, collection), ignored)) {
    if (entry.path().extension() != kSuffix) continue;
    const auto written = std::chrono::file_clock::to_sys(entry.last_write_time(ignored));
    out.push_back({.name = entry.path().filename().string(),
                   .created_at = std::chrono::time_point_cast<std::chrono::milliseconds>(written),
                   .bytes = entry.file_size(ignored)});
  }
  std::ranges::sort(out, {}, [](const SnapshotInfo& info) { return std::pair(info.created_at, info.name); });
  return out;
}

Result<std::string> Snapshots::read(WorkspaceId workspace, std::string_view collection, std::string_view name) const {
  FOOTNOTE_TRY(const auto path, path_of(workspace, collection, name));
  return read_file(path, kSnapshotBytesMax);
}

Result<void> Snapshots::remove(WorkspaceId workspace, std::string_view collection, std::string_view name) const {
  FOOTNOTE_TRY(const auto path, path_of(workspace, collection, name));
  std::error_code error;
  std::filesystem::remove(path, error);
  if (error) return fail(code_of_errno(error.value()), "the snapshot {} can't be removed: {}", name, error.message());
  return sync_folder(path.parent_path());
}

Result<void> Snapshots::recover(const CallContext& call, WorkspaceId workspace, std::string_view collection, std::string_view name,
                                std::string_view model_id_of_own_space) const {
  FOOTNOTE_TRY(const std::string text, read(workspace, collection, name));
  std::string_view rest = text;
  const auto next_line = [&] {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    return line;
  };
  const auto head = parse_json(next_line());
  if (!head || !head->is_object() || !head->get_object().contains("footnote_snapshot")) return damaged();
  const JsonObject& object = head->get_object();
  Collection wanted{
      .corpus = {.id = {}, .workspace = workspace, .name = std::string(collection), .space = {}, .generation = 0, .created_at = {}},
      .config = text_at(object, "config")};
  // Vectors of the current model are restored as its own; vectors of any other model as client vectors.
  const std::string model = text_at(object, "model");
  wanted.corpus.space.model_id = model == kNoModel || model == model_id_of_own_space ? model : std::string(kClientModel);
  FOOTNOTE_TRY(wanted.corpus.space.dimension, size_at(object));
  FOOTNOTE_TRY(wanted.corpus.space.distance, distance_from(text_at(object, "distance")));
  for (const Json& space : list_at(object, "named")) {
    if (!space.is_object()) return damaged();
    FOOTNOTE_TRY(const int size, size_at(space.get_object()));
    FOOTNOTE_TRY(const Distance distance, distance_from(text_at(space.get_object(), "distance")));
    wanted.corpus.named_spaces.push_back({text_at(space.get_object(), "name"), size, distance});
  }
  FOOTNOTE_TRY(const Collection made, store_.create_collection(call, wanted));
  for (const Json& index : list_at(object, "indexes")) {
    if (!index.is_object()) return damaged();
    const auto kind = parse_payload_kind(text_at(index.get_object(), "kind"));
    if (!kind) return damaged();
    FOOTNOTE_CHECK(
        store_.put_index(call, made.corpus.id, {text_at(index.get_object(), "field"), *kind, text_at(index.get_object(), "schema")}));
  }
  while (!rest.empty()) {
    Upsert upsert;
    while (!rest.empty() && upsert.points.size() < kRecoverPointsMax) {
      FOOTNOTE_TRY(NewPoint point, point_of(next_line()));
      upsert.points.push_back(std::move(point));
    }
    const PointOperation operations[] = {std::move(upsert)};
    FOOTNOTE_CHECK(writer_.apply(call, made.corpus.id, operations));
  }
  return {};
}

}  // namespace footnote::points
