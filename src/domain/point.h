#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/uuid.h"
#include "domain/catalog.h"
#include "domain/ids.h"

namespace footnote {

/// Id of a point inside its collection: a number or a UUID. Numbers sort before UUIDs.
struct PointId {
  std::variant<std::uint64_t, Uuid> value;

  auto operator<=>(const PointId&) const = default;
};

/// "17", "550e8400-e29b-41d4-a716-446655440000"
std::string to_string(const PointId& id);
/// Accepts the output of to_string, and every UUID form that parse_uuid accepts.
std::optional<PointId> parse_point_id(std::string_view text);

/// The point id of a passage of an ingested document: stable as long as the document keeps its URL (or its key, without one) and the
/// passage its position.
PointId point_of_passage(std::string_view url_or_key, int ordinal);

/// The key of the document that stores an external point: "point:17".
std::string document_key_of(const PointId& id);
/// Ingested documents must not use this prefix: they would be mistaken for points.
inline constexpr std::string_view kPointKeyPrefix = "point:";

/// One stored point: a chunk with its payload. `payload` is a JSON object as text.
struct Point {
  PointId id;
  ChunkId chunk;
  Generation version = 0;  ///< The generation it was born in.
  std::string document_key;
  bool is_passage = false;  ///< True: belongs to an ingested document, and changes only with it.
  std::string payload;
  std::vector<float> vector;  ///< In the corpus's own space; for a passage, the vector of its first window. Empty if there is none or it
                              ///< was not requested.
  std::map<std::string, std::vector<float>> named_vectors;
};

/// Declared type of a payload key's values.
enum class PayloadKind { kKeyword, kInteger, kFloat, kGeo, kText, kBool, kDatetime, kUuid };
inline constexpr PayloadKind kAllPayloadKinds[] = {PayloadKind::kKeyword,  PayloadKind::kInteger, PayloadKind::kFloat,
                                                   PayloadKind::kGeo,      PayloadKind::kText,    PayloadKind::kBool,
                                                   PayloadKind::kDatetime, PayloadKind::kUuid};

/// "keyword", "integer" ...
std::string_view to_string(PayloadKind kind);
std::optional<PayloadKind> parse_payload_kind(std::string_view name);
/// True for kinds that are looked up by equality: keyword, integer, bool and uuid.
bool is_looked_up(PayloadKind kind);

/// A declared payload key, so that conditions on it are fast.
struct PayloadIndex {
  std::string field;  ///< A JsonPath.
  PayloadKind kind = PayloadKind::kKeyword;
  std::string schema;  ///< As declared by the client: a JSON value as text.
};

/// A value for lookups: a keyword or uuid, an integer, a bool.
using PayloadKey = std::variant<std::string, std::int64_t, bool>;

/// The model of collections whose vectors come from clients: text queries cannot be compared with them.
inline constexpr std::string_view kClientModel = "client";
/// The model of collections that have only named vectors: they have no space of their own.
inline constexpr std::string_view kNoModel = "none";

inline bool has_own_space(const Corpus& corpus) { return corpus.space.model_id != kNoModel; }
/// Whether the corpus's own vectors can be compared with a question's vector.
inline bool has_our_vectors(const Corpus& corpus) { return corpus.space.model_id != kClientModel && has_own_space(corpus); }

/// A corpus as seen by API clients.
struct Collection {
  Corpus corpus;
  std::string config;  ///< Requested settings other than its vectors: a JSON object as text.
};

struct CollectionAlias {
  std::string alias;
  std::string collection;

  bool operator==(const CollectionAlias&) const = default;
};

}  // namespace footnote
