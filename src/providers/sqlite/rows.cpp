#include "providers/sqlite/rows.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "base/json_view.h"
#include "base/text.h"
#include "providers/sqlite/stored_json.h"

namespace footnote {

static_assert(std::endian::native == std::endian::little, "vectors are stored in the machine's own byte order");

std::int64_t limit_of(std::size_t count) {
  return static_cast<std::int64_t>(std::min<std::size_t>(count, std::numeric_limits<std::int64_t>::max()));
}

Result<Corpus> corpus_from(const sql::Statement& row) {
  FOOTNOTE_TRY(const Distance distance, from_stored_name<Distance>(row.text(7)));
  FOOTNOTE_TRY(auto spaces, named_spaces_from_stored_text(row.text(8)));
  FOOTNOTE_TRY(auto gate, gate_from_stored_text(row.text(9)));
  return Corpus{.id = {row.integer(0)},
                .workspace = {row.integer(1)},
                .name = std::string(row.text(2)),
                .space = {.model_id = std::string(row.text(3)), .dimension = static_cast<int>(row.integer(4)), .distance = distance},
                .generation = row.integer(5),
                .created_at = time_from(row.integer(6)),
                .named_spaces = std::move(spaces),
                .gate = std::move(gate)};
}

Result<CorpusRow> read_corpus(sql::Database& database, CorpusId id) {
  FOOTNOTE_TRY(auto find, database.prepare("SELECT id, workspace_id, name, model_id, dimension, generation, created_at, distance, "
                                           "named_spaces, gate, deaths_known_after FROM corpora WHERE id = ? AND deleted_at IS NULL"));
  find.bind(id.value);
  FOOTNOTE_TRY(const bool found, find.step());
  if (!found) return fail(ErrorCode::kNotFound, "there is no corpus {}", id.value);
  FOOTNOTE_TRY(auto corpus, corpus_from(find));
  return CorpusRow{.corpus = std::move(corpus), .deaths_known_after = find.integer(10)};
}

Result<void> check_corpus(sql::Database& database, CorpusId id) {
  FOOTNOTE_TRY(auto find, database.prepare("SELECT 1 FROM corpora WHERE id = ? AND deleted_at IS NULL"));
  find.bind(id.value);
  FOOTNOTE_TRY(const bool found, find.step());
  return found ? Result<void>() : fail(ErrorCode::kNotFound, "there is no corpus {}", id.value);
}

namespace {

/// Version of the threshold's scale. Thresholds of earlier versions have no such number and are ignored.
constexpr std::int64_t kGateScale = 2;

Json stored_scale(const std::optional<SignalScale>& scale) { return scale ? Json(JsonArray{scale->slope, scale->offset}) : Json(nullptr); }

std::optional<SignalScale> scale_from(const Json& gate, std::string_view name) {
  const JsonArray* numbers = value_at(gate, name).if_array();
  if (numbers == nullptr || numbers->size() != 2 || !numbers->front().is_number() || !numbers->back().is_number()) return std::nullopt;
  return SignalScale{numbers->front().to_number<double>(), numbers->back().to_number<double>()};
}

}  // namespace

std::string to_stored_text(const std::optional<GateCalibration>& gate) {
  if (!gate) return {};
  return to_text(JsonObject{{"scale", kGateScale},
                            {"evidence_min", gate->evidence_min},
                            {"wanted_rate", gate->wanted_rate},
                            {"false_answer_rate", gate->false_answer_rate},
                            {"answered_rate", gate->answered_rate},
                            {"probes", gate->probes},
                            {"embedder", stored_text(gate->embedder)},
                            {"judge", stored_text(gate->judge)},
                            {"made_at", to_row(gate->made_at)},
                            {"cosine", stored_scale(gate->cosine)},
                            {"judge_scale", stored_scale(gate->judge_scale)},
                            {"automatic", gate->automatic},
                            {"passages", gate->passages}});
}

Result<std::optional<GateCalibration>> gate_from_stored_text(std::string_view text) {
  if (text.empty()) return std::nullopt;
  const auto value = parse_json(text);
  if (!value) return damaged_text("a corpus's gate");
  if (integer_at(*value, "scale") != kGateScale) return std::nullopt;
  bool damaged = false;
  const StoredObject object(*value, damaged);
  GateCalibration out{.evidence_min = object.number("evidence_min"),
                      .wanted_rate = object.number("wanted_rate"),
                      .false_answer_rate = object.number("false_answer_rate"),
                      .answered_rate = object.number("answered_rate"),
                      .probes = object.integer("probes"),
                      .embedder = object.text("embedder"),
                      .judge = object.text("judge"),
                      .made_at = time_from(object.integer("made_at")),
                      .cosine = scale_from(*value, "cosine"),
                      .judge_scale = scale_from(*value, "judge_scale"),
                      .automatic = flag_at(*value, "automatic"),
                      .passages = integer_at(*value, "passages")};
  if (damaged) return damaged_text("a corpus's gate");
  return out;
}

std::string to_stored_text(const std::vector<NamedSpace>& spaces) {
  JsonArray out;
  for (const NamedSpace& space : spaces) {
    out.push_back(JsonObject{{"name", stored_text(space.name)}, {"dimension", space.dimension}, {"distance", stored_name(space.distance)}});
  }
  return to_text(out);
}

Result<std::vector<NamedSpace>> named_spaces_from_stored_text(std::string_view text) {
  std::vector<NamedSpace> out;
  if (text == "[]") return out;
  const auto value = parse_json(text);
  if (!value || !value->is_array()) return damaged_text("a corpus's spaces");
  bool damaged = false;
  for (const Json& entry : value->get_array()) {
    const StoredObject object(entry, damaged);
    out.push_back({.name = object.text("name"),
                   .dimension = static_cast<int>(object.integer("dimension")),
                   .distance = object.name("distance", Distance::kCosine)});
  }
  if (damaged) return damaged_text("a corpus's spaces");
  return out;
}

Result<Document> document_from(const sql::Statement& row, int first) {
  FOOTNOTE_TRY(auto attributes, attributes_from_stored_text(row.text(first + 6)));
  return Document{.id = {row.integer(first)},
                  .corpus = {row.integer(first + 1)},
                  .source = {row.integer(first + 4)},
                  .key = std::string(row.text(first + 2)),
                  .version = static_cast<int>(row.integer(first + 3)),
                  .content_hash = std::string(row.text(first + 5)),
                  .attributes = std::move(attributes),
                  .chunk_count = static_cast<std::size_t>(row.integer(first + 7)),
                  .indexed_at = time_from(row.integer(first + 8))};
}

std::string to_stored_text(const Places& places) {
  if (places == Places{}) return {};
  std::string out(to_string(places.unit));
  for (const PlaceMark& mark : places.marks) out += fmt::format(" {}:{}", mark.offset, mark.number);
  return out;
}

Result<Places> places_from_stored_text(std::string_view text) {
  if (text.empty()) return Places{};
  const auto words = split(text, ' ');
  const auto unit = parse_place_unit(words[0]);
  if (!unit) return damaged_text("a chunk's places");
  Places out{*unit, {}};
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::size_t colon = words[i].find(':');
    const auto offset = parse_whole_number<std::uint32_t>(words[i].substr(0, colon));
    const auto number = colon == std::string_view::npos ? std::nullopt : parse_whole_number<std::int32_t>(words[i].substr(colon + 1));
    const bool in_order = offset && (out.marks.empty() || out.marks.back().offset < *offset);
    if (!number || !in_order) return damaged_text("a chunk's places");
    out.marks.push_back({*offset, *number});
  }
  return out;
}

Result<Chunk> chunk_from(const sql::Statement& row) {
  FOOTNOTE_TRY(auto places, places_from_stored_text(row.text(15)));
  FOOTNOTE_TRY(auto heading_path, texts_from_stored_text(row.text(13)));
  const std::int64_t begin = row.integer(6);
  const std::int64_t end = row.integer(7);
  if (begin < 0 || end < begin) return damaged_text("a chunk's range");
  return Chunk{.id = {row.integer(0)},
               .document = {row.integer(1)},
               .document_version = static_cast<int>(row.integer(2)),
               .ordinal = static_cast<int>(row.integer(3)),
               .text = std::string(row.text(14)),
               .heading_path = std::move(heading_path),
               .symbol = std::string(row.text(12)),
               .source_type = std::string(row.text(11)),
               .content_hash = std::string(row.text(10)),
               .range = {static_cast<std::size_t>(begin), static_cast<std::size_t>(end)},
               .first_line = static_cast<int>(row.integer(8)),
               .last_line = static_cast<int>(row.integer(9)),
               .places = std::move(places),
               .born = row.integer(4),
               .died = row.optional_integer(5)};
}

std::vector<std::byte> pack_vectors(std::span<const std::vector<float>> vectors) {
  std::vector<std::byte> out;
  for (const std::vector<float>& vector : vectors) {
    const auto bytes = std::as_bytes(std::span(vector));
    out.insert(out.end(), bytes.begin(), bytes.end());
  }
  return out;
}

Result<std::vector<std::vector<float>>> unpack_vectors(std::span<const std::byte> bytes, std::int64_t windows, int dimension) {
  const std::size_t stride = static_cast<std::size_t>(std::max(dimension, 1)) * sizeof(float);
  if (windows < 1 || bytes.size() % stride != 0 || bytes.size() / stride != static_cast<std::size_t>(windows)) {
    return damaged_text("a chunk's vectors");
  }
  std::vector<std::vector<float>> out(static_cast<std::size_t>(windows));
  for (std::vector<float>& vector : out) {
    vector.resize(stride / sizeof(float));
    std::memcpy(vector.data(), bytes.data(), stride);
    bytes = bytes.subspan(stride);
  }
  return out;
}

Result<PassageCodes> codes_from(const sql::Statement& row, int first) {
  if (row.is_null(first)) return PassageCodes{};
  const auto windows = row.blob(first + 2);
  const auto signs = row.blob(first + 3);
  PassageCodes codes{.form = static_cast<std::uint32_t>(row.integer(first)),
                     .dimension = static_cast<std::uint32_t>(row.integer(first + 1)),
                     .signs = {signs.begin(), signs.end()},
                     .windows = std::vector<std::uint32_t>(windows.size() / sizeof(std::uint32_t))};
  std::memcpy(codes.windows.data(), windows.data(), codes.windows.size() * sizeof(std::uint32_t));
  if (!is_whole(codes)) return damaged_text("a chunk's codes");
  return codes;
}

Result<const VersionFacts*> DocumentLookup::find(std::int64_t document, std::int64_t version) {
  if (facts_ != nullptr && document == document_ && version == version_) return facts_.get();
  facts_ = cache_ == nullptr ? nullptr : cache_->find(document, version);
  if (facts_ == nullptr) {
    FOOTNOTE_TRY(facts_, read(document, version));
  }
  document_ = document;
  version_ = version;
  return facts_.get();
}

Result<std::shared_ptr<const VersionFacts>> DocumentLookup::read(std::int64_t document, std::int64_t version) {
  FOOTNOTE_TRY(auto find, database_.prepare(
                              "SELECT d.key, v.attributes, v.indexed_at FROM document_versions v JOIN documents d ON d.id = v.document_id "
                              "WHERE v.document_id = ? AND v.version = ?"));
  find.bind(document, version);
  FOOTNOTE_TRY(const bool found, find.step());
  if (!found) return damaged_text("a chunk's document");
  FOOTNOTE_TRY(auto attributes, attributes_from_stored_text(find.text(1)));
  auto facts = std::make_shared<const VersionFacts>(std::string(find.text(0)), std::move(attributes), time_from(find.integer(2)));
  if (cache_ != nullptr) cache_->put(document, version, facts, sizeof(VersionFacts) + find.text(0).size() + 2 * find.text(1).size());
  return facts;
}

}  // namespace footnote
