#pragma once

#include <functional>
#include <vector>

#include "api/job_routes.h"
#include "api/route.h"
#include "ingest/upload_files.h"
#include "ports/catalog_store.h"
#include "ports/embedder.h"

namespace footnote::api {

inline constexpr std::string_view kUploadJob = "upload";

/// Dependencies of this route, borrowed.
struct UploadServices {
  const ingest::UploadFiles& files;
  JobStore& jobs;
  CatalogStore& catalog;
  const Embedder& embedder;
  std::function<void()> wake;         ///< A job was queued.
  std::size_t bytes_max = 64u << 20;  ///< Of one request.
};

/// POST /api/kb/uploads: files in, a job out.
std::vector<Route> make_upload_routes(const UploadServices& services);

}  // namespace footnote::api
