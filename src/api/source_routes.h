#pragma once

#include <functional>
#include <vector>

#include "api/job_routes.h"
#include "api/route.h"
#include "ingest/source_kind.h"
#include "ports/catalog_store.h"
#include "ports/embedder.h"
#include "ports/job_store.h"
#include "ports/source_store.h"

namespace footnote::api {

/// Dependencies of these routes, borrowed.
struct SourceServices {
  SourceStore& sources;
  JobStore& jobs;
  CatalogStore& catalog;
  const Embedder& embedder;
  const ingest::SourceKinds& kinds;
  std::function<void()> wake;                                      ///< A job was queued.
  std::function<void(const CallContext&, CorpusId)> sync_indexes;  ///< Documents were deleted.
};

/// Jobs that sync a source: only what changed, or everything.
inline constexpr std::string_view kSyncJob = "sync";
inline constexpr std::string_view kDriftJob = "drift";

/// Queues a sync of a source, unless one waits already.
Result<Job> queue_sync(const CallContext& call, JobStore& jobs, const SourceRecord& source, std::string_view kind);

/// GET and POST /api/v1/workspace/sources, GET and DELETE .../{id}, POST .../{id}/resync. Errors have the codes of that API:
/// missing_token, invalid_token, missing_ability.
std::vector<Route> make_source_routes(const SourceServices& services);

}  // namespace footnote::api
