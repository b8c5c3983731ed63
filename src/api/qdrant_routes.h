#pragma once

#include <functional>
#include <string>
#include <vector>

#include "api/qdrant_wire.h"
#include "api/route.h"
#include "base/json_size.h"
#include "points/memories.h"
#include "points/point_search.h"
#include "points/point_writer.h"
#include "points/snapshots.h"
#include "ports/catalog_store.h"
#include "ports/chunk_store.h"
#include "ports/embedder.h"
#include "ports/point_store.h"

namespace footnote::api {

/// The collection that always exists, and the one created by the first point.
inline constexpr std::string_view kMemoryCollection = kDefaultCorpus;
inline constexpr std::string_view kAgentCollection = points::kMemoriesCollection;

/// The Qdrant version whose clients accept these routes.
inline constexpr std::string_view kQdrantVersion = "1.18.0";

/// Dependencies of these routes. Borrowed.
struct PointServices {
  PointStore& points;
  const points::PointSearch& search;
  points::PointWriter& writer;
  const points::Snapshots& snapshots;
  const points::Memories& memories;
  CatalogStore& catalog;
  const ChunkReader& chunks;
  Embedder& embedder;
  /// Releases the indexes of a deleted corpus.
  std::function<void(const CallContext&, CorpusId)> forget_corpus;
};

/// Qdrant's REST routes under /collections: a collection is a corpus. See docs/qdrant.md.
std::vector<Route> make_qdrant_routes(const PointServices& services);

/// One call as seen by its handlers.
struct PointCall {
  const PointServices& services;
  const access::Caller& caller;
  const http::Request& request;
  const CallContext& call;
  points::Work& work;  ///< The budget of the whole request.

  /// The collection in the path, by name or alias. The default one is created on first use. kNotFound.
  Result<Collection> collection() const;
  Result<Json> body() const { return parse_request_json(request.body, json_values_max(request.body.size())); }
};
/// Returns the `result` of the answer.
using PointAnswer = Result<Json> (*)(const PointCall&);

/// The routes for collections, and those for points in them.
struct PointRoute {
  KeyScope scope;
  http::Method method;
  std::string_view pattern;  ///< Path below /collections.
  PointAnswer answer;
  std::string_view summary;
};
std::vector<PointRoute> collection_routes();
std::vector<PointRoute> point_routes();
/// Aliases of all collections.
Result<Json> all_aliases(const PointCall& point);

}  // namespace footnote::api
