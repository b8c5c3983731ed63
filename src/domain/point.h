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

/// The name of a point inside its collection: a number or a UUID. Numbers come before UUIDs.
struct PointId {
  std::variant<std::uint64_t, Uuid> value;

  auto operator<=>(const PointId&) const = default;
};

/// "17", "550e8400-e29b-41d4-a716-446655440000"
std::string to_string(const PointId& id);
/// What to_string gives, and every form of a UUID that parse_uuid takes.
std::optional<PointId> parse_point_id(std::string_view text);

/// The point that a passage of an ingested document is: the same as long as the document has that address (or key, without one)
/// and a passage at that place.
PointId point_of_passage(std::string_view url_or_key, int ordinal);

/// The key of the document that a point from outside is stored as: "point:17".
std::string document_key_of(const PointId& id);
/// Nothing that is ingested may have such a key: it would be taken for a point.
inline constexpr std::string_view kPointKeyPrefix = "point:";

/// One point as it is stored: a chunk with what its collection's users say of it. `payload` is the text of a JSON object.
struct Point {
  PointId id;
  ChunkId chunk;
  Generation version = 0;  ///< The generation that it was born in.
  std::string document_key;
  bool is_passage = false;  ///< Of an ingested document, which alone can change it.
  std::string payload;
  std::vector<float> vector;  ///< In the corpus's own space, of a passage its first window; empty without one, or when not asked for.
  std::map<std::string, std::vector<float>> named_vectors;
};

/// What the values of a payload's key are declared to be.
enum class PayloadKind { kKeyword, kInteger, kFloat, kGeo, kText, kBool, kDatetime, kUuid };
inline constexpr PayloadKind kAllPayloadKinds[] = {PayloadKind::kKeyword,  PayloadKind::kInteger, PayloadKind::kFloat,
                                                   PayloadKind::kGeo,      PayloadKind::kText,    PayloadKind::kBool,
                                                   PayloadKind::kDatetime, PayloadKind::kUuid};

/// "keyword", "integer" ...
std::string_view to_string(PayloadKind kind);
std::optional<PayloadKind> parse_payload_kind(std::string_view name);
/// Values of that kind are looked up rather than searched for: keyword, integer, bool and uuid.
bool is_looked_up(PayloadKind kind);

/// A key of payloads that was declared, so that conditions on it are answered fast.
struct PayloadIndex {
  std::string field;  ///< As JsonPath writes it.
  PayloadKind kind = PayloadKind::kKeyword;
  std::string schema;  ///< As it was declared: the text of a JSON value.
};

/// A value that can be looked up: of a keyword or uuid, an integer, a bool.
using PayloadKey = std::variant<std::string, std::int64_t, bool>;

/// The model of collections whose vectors come from clients: no text can be compared with them.
inline constexpr std::string_view kClientModel = "client";
/// The model of collections whose vectors all have names: they have no space of their own.
inline constexpr std::string_view kNoModel = "none";

inline bool has_own_space(const Corpus& corpus) { return corpus.space.model_id != kNoModel; }
/// Vectors of clients, or none without a name, can't be compared with a question's.
inline bool has_our_vectors(const Corpus& corpus) { return corpus.space.model_id != kClientModel && has_own_space(corpus); }

/// A corpus as its clients see it.
struct Collection {
  Corpus corpus;
  std::string config;  ///< What was asked for beside its vectors: the text of a JSON object.
};

struct CollectionAlias {
  std::string alias;
  std::string collection;

  bool operator==(const CollectionAlias&) const = default;
};

}  // namespace footnote
