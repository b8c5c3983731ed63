#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "base/call_context.h"
#include "base/mutex.h"
#include "ingest/index_sync.h"
#include "points/payload_filter.h"
#include "points/point_search.h"
#include "ports/catalog_store.h"
#include "ports/chunk_store.h"
#include "ports/point_store.h"

namespace footnote::points {

/// Bound on the points that one operation with a filter may change; does not apply to deletions.
inline constexpr std::size_t kChangedByFilterMax = 100'000;
/// Limit on the total size of the payloads that one call sets, counted once per changed point: a small request must not become a large
/// commit.
inline constexpr std::size_t kPayloadCopiesBytesMax = 64u << 20;

/// Vectors by space name; "" is the corpus's own space.
using VectorsByName = std::map<std::string, std::vector<float>>;

struct NewPoint {
  PointId id;
  VectorsByName vectors;
  JsonObject payload;
};

/// Points by id, or all that match a filter.
using Selection = std::variant<std::vector<PointId>, PointFilter>;

/// Adds points, or replaces points of the same ids as a whole.
struct Upsert {
  std::vector<NewPoint> points;
};
struct DeletePoints {
  Selection points;
};
/// Sets these keys at the path `at` (objects only, created if missing); other keys stay.
struct SetPayload {
  Selection points;
  JsonObject payload;
  std::optional<JsonPath> at;
};
struct OverwritePayload {
  Selection points;
  JsonObject payload;
};
struct DeletePayload {
  Selection points;
  std::vector<JsonPath> keys;
};
struct ClearPayload {
  Selection points;
};
/// Replaces these vectors; the points' other vectors stay.
struct UpdateVectors {
  std::vector<std::pair<PointId, VectorsByName>> points;
};
struct DeleteVectors {
  Selection points;
  std::vector<std::string> names;
};
using PointOperation =
    std::variant<Upsert, DeletePoints, SetPayload, OverwritePayload, DeletePayload, ClearPayload, UpdateVectors, DeleteVectors>;

/// Changes points of a collection. A point is stored as a document of one chunk, whose text, title and URL are the payload's `text`,
/// `title` and `url`, so that every front door finds it. The operations of one call are one atomic commit and are searchable when it
/// returns. Cosine vectors are stored with length 1. Thread-safe; borrows its ports. kInvalidArgument: a duplicate id in one Upsert, a
/// vector that is empty, not finite or of the wrong dimension, a payload past its bounds, or more work than a request may do. kTooLarge:
/// more points or copies of a payload than the bounds above. kNotFound: an id to change does not exist. kFailedPrecondition: the point is a
/// passage of an ingested document, which changes only with its document; it can be deleted together with all others of that document.
class PointWriter {
 public:
  struct Ports {
    ChunkStore& chunks;
    CatalogStore& catalog;
    const PointStore& points;
    ingest::IndexSync& sync;
  };
  PointWriter(const Ports& ports, const PointSearch& search) : ports_(ports), search_(search) {}

  /// Returns the generation that contains the changes.
  Result<Generation> apply(const CallContext& call, CorpusId corpus, std::span<const PointOperation> operations);

 private:
  Mutex& mutex_of(CorpusId corpus);

  const Ports ports_;
  const PointSearch& search_;
  Mutex mutex_;
  std::map<CorpusId, std::unique_ptr<Mutex>> corpora_ FOOTNOTE_TSA(guarded_by(mutex_));
};

}  // namespace footnote::points
