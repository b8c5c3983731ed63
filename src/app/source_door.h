#pragma once

#include <atomic>
#include <memory>
#include <optional>

#include "api/document_routes.h"
#include "api/source_routes.h"
#include "api/upload_routes.h"
#include "app/ingest_parts.h"
#include "ingest/source_sync.h"
#include "ingest/upload_files.h"
#include "ports/crawler.h"
#include "upkeep/job_runner.h"
#include "upkeep/source_keeper.h"

namespace footnote::app {

/// Sources, uploads and the jobs that ingest them: /api/v1/workspace/sources, /api/kb/uploads, /api/jobs. The only place that names the
/// kinds of sources.
class SourceDoor {
 public:
  /// Borrows `base`, and `crawler`, which reads web pages; null: there are no sources on the web.
  static Result<std::unique_ptr<SourceDoor>> open(const Settings& settings, IngestParts& base, Crawler* crawler);

  /// Starts the workers, the schedule and the watches. A process that does not start them does its jobs when they are queued.
  void start();
  void stop();

  api::JobServices job_services();
  api::SourceServices source_services();
  api::UploadServices upload_services();
  ingest::Originals originals() const { return options_.originals; }

 private:
  SourceDoor(const Settings& settings, IngestParts& base, Crawler* crawler);
  upkeep::JobRunner::Handlers handlers();
  Result<JobProgress> sync(const CallContext& call, const Job& job, ingest::Stamps stamps, const upkeep::JobRunner::Report& report);
  /// A job was queued.
  void wake();

  IngestParts& base_;
  const ingest::IngestOptions options_;
  const std::size_t upload_bytes_max_;
  ingest::SourceKinds kinds_;
  ingest::UploadFiles uploads_;
  ingest::SourceSync sync_;
  upkeep::JobRunner runner_;
  upkeep::SourceKeeper keeper_;
  std::atomic<bool> started_{false};
};

}  // namespace footnote::app
