#pragma once

#include <functional>
#include <vector>

#include "api/route.h"
#include "ports/catalog_store.h"
#include "ports/job_store.h"

namespace footnote::api {

/// Dependencies of these routes, borrowed.
struct JobServices {
  JobStore& jobs;
  const CatalogStore& catalog;
  /// Tells the workers that a job was queued. Must not block.
  std::function<void()> wake;
};

/// Jobs per page of GET /api/jobs.
inline constexpr std::int64_t kJobsPageDefault = 50;
inline constexpr std::int64_t kJobsPageMax = 500;

/// A job as the routes show it.
Json render_job(const CallContext& call, const CatalogStore& catalog, const Job& job);

/// GET /api/jobs, /api/jobs/{id}, /api/jobs/{id}/events and DELETE /api/jobs/{id}.
std::vector<Route> make_job_routes(const JobServices& services);

}  // namespace footnote::api
