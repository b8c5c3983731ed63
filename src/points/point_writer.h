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

/// Points that one operation with a filter may change; deletions are not bound.
inline constexpr std::size_t kChangedByFilterMax = 100'000;

/// Vectors by the names of their spaces; "" is the corpus's own.
using VectorsByName = std::map<std::string, std::vector<float>>;

struct NewPoint {
  PointId id;
  VectorsByName vectors;
  JsonObject payload;
};

/// Points by id, or all that meet a filter.
using Selection = std::variant<std::vector<PointId>, PointFilter>;

/// Adds points, or replaces those of the same ids, whole.
struct Upsert {
  std::vector<NewPoint> points;
};
struct DeletePoints {
  Selection points;
};
/// Sets these keys, at the place that `at` leads to (objects alone, made where they are missing); others stay.
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
/// Replaces these vectors; others of the same points stay.
struct UpdateVectors {
  std::vector<std::pair<PointId, VectorsByName>> points;
};
struct DeleteVectors {
  Selection points;
  std::vector<std::string> names;
};
using PointOperation =
    std::variant<Upsert, DeletePoints, SetPayload, OverwritePayload, DeletePayload, ClearPayload, UpdateVectors, DeleteVectors>;

/// Changes points of a collection: a point is stored as a document of one chunk, whose text is the payload's `text` and whose title
/// and address are its `title` and `url`, so that every front door finds it. Operations of one call are one commit, all or nothing,
/// and can be searched when it returns. Vectors for cosine are stored at length 1. Thread-safe; borrows its ports.
/// kInvalidArgument: an id twice in one Upsert, a vector that is empty, not finite or of another length than its space, a payload
/// past its bounds. kNotFound: an id to change that is not there. kFailedPrecondition: a passage of an ingested document, which
/// changes with its document alone; it can be deleted together with all others of that document.
class PointWriter {
 public:
  struct Ports {
    ChunkStore& chunks;
    CatalogStore& catalog;
    const PointStore& points;
    ingest::IndexSync& sync;
  };
  PointWriter(const Ports& ports, const PointSearch& search) : ports_(ports), search_(search) {}

  /// Returns the generation that holds the changes.
  Result<Generation> apply(const CallContext& call, CorpusId corpus, std::span<const PointOperation> operations);

 private:
  Mutex& mutex_of(CorpusId corpus);

  const Ports ports_;
  const PointSearch& search_;
  Mutex mutex_;
  std::map<CorpusId, std::unique_ptr<Mutex>> corpora_ FOOTNOTE_TSA(guarded_by(mutex_));
};

}  // namespace footnote::points
