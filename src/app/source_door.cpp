#include "app/source_door.h"

#include "base/log.h"
#include "base/text.h"
#include "crawl/web_source.h"
#include "ingest/folder_source.h"

namespace footnote::app {
namespace {

std::vector<std::filesystem::path> roots_of(const Settings& settings) {
  std::vector<std::filesystem::path> out;
  for (const std::string_view root : split(settings.text(Setting::kSourcesFolders), ',')) {
    if (!trim(root).empty()) out.emplace_back(trim(root));
  }
  return out;
}

ingest::WalkOptions walk_options(const Settings& settings) {
  const bool read = settings.text(Setting::kIngestHardLinks) == "read";
  return {.hard_links = read ? ingest::HardLinks::kRead : ingest::HardLinks::kRefuse};
}

ingest::SourceKinds make_kinds(const Settings& settings, IngestParts& base, Crawler* crawler) {
  ingest::SourceKinds out;
  out[SourceKind::kFolder] = std::make_unique<ingest::FolderSourceKind>(roots_of(settings), base.clock(), walk_options(settings));
  out[SourceKind::kText] = std::make_unique<ingest::TextSourceKind>();
  if (crawler == nullptr) return out;
  for (const SourceKind kind : {SourceKind::kUrl, SourceKind::kSitemap, SourceKind::kFeed}) {
    out[kind] = std::make_unique<crawl::WebSourceKind>(kind, *crawler, base.chunks());
  }
  return out;
}

ingest::IngestOptions ingest_options(const Settings& settings) {
  ingest::IngestOptions out;
  out.secrets = settings.text(Setting::kIngestSecrets) == "allow" ? ingest::Secrets::kAllow : ingest::Secrets::kKeepOut;
  out.originals = settings.text(Setting::kIngestOriginals) == "keep" ? ingest::Originals::kKeep : ingest::Originals::kDrop;
  out.foreign_key = ingest::ForeignKey::kTakeOver;  // what somebody uploads is meant
  return out;
}

}  // namespace

Result<std::unique_ptr<SourceDoor>> SourceDoor::open(const Settings& settings, IngestParts& base, Crawler* crawler) {
  auto out = std::unique_ptr<SourceDoor>(new SourceDoor(settings, base, crawler));
  out->uploads_.tidy();
  return out;
}

SourceDoor::SourceDoor(const Settings& settings, IngestParts& base, Crawler* crawler)
    : base_(base),
      options_(ingest_options(settings)),
      upload_bytes_max_(static_cast<std::size_t>(settings.integer(Setting::kUploadsSizeMax)) << 20),
      kinds_(make_kinds(settings, base, crawler)),
      uploads_(base.folder().path() / "uploads"),
      sync_({base.ingestor(), base.catalog(), base.chunks(), base.stores().sources(), kinds_, base.clock()},
            {.secrets = options_.secrets, .originals = options_.originals}),
      runner_(base.stores().jobs(), base.clock(), base.metrics(), handlers(),
              {.workers = static_cast<std::size_t>(settings.integer(Setting::kJobsWorkers))}),
      keeper_({.sources = base.stores().sources(),
               .jobs = base.stores().jobs(),
               .clock = base.clock(),
               .queue =
                   [this](const CallContext& call, const SourceRecord& source, bool drift) {
                     auto job = api::queue_sync(call, base_.stores().jobs(), source, drift ? api::kDriftJob : api::kSyncJob);
                     runner_.wake();
                     return job;
                   }},
              {.drift_every = settings.duration(Setting::kSourcesDriftScan)}) {}

void SourceDoor::start() {
  started_ = true;
  runner_.start();
  keeper_.start();
}

void SourceDoor::stop() {
  keeper_.stop();
  runner_.stop();
}

void SourceDoor::wake() {
  if (started_) return runner_.wake();
  for (bool more = true; more;) more = runner_.run_one({}, "command/1").value_or(false);
}

Result<JobProgress> SourceDoor::sync(const CallContext& call, const Job& job, ingest::Stamps stamps,
                                     const upkeep::JobRunner::Report& report) {
  FOOTNOTE_TRY(const SourceRecord source, base_.stores().sources().source(call, job.workspace, job.source));
  return sync_.run(call, source, stamps, report);
}

upkeep::JobRunner::Handlers SourceDoor::handlers() {
  using upkeep::JobRunner;
  return {
      {std::string(api::kSyncJob), [this](const CallContext& call, const Job& job,
                                          const JobRunner::Report& report) { return sync(call, job, ingest::Stamps::kTrust, report); }},
      {std::string(api::kDriftJob), [this](const CallContext& call, const Job& job,
                                           const JobRunner::Report& report) { return sync(call, job, ingest::Stamps::kIgnore, report); }},
      {std::string(api::kUploadJob), [this](const CallContext& call, const Job& job, const JobRunner::Report& report) {
         return ingest::ingest_uploads(call, job, uploads_, base_.ingestor(), base_.catalog(), options_, report);
       }}};
}

api::JobServices SourceDoor::job_services() {
  return {.jobs = base_.stores().jobs(), .catalog = base_.catalog(), .wake = [this] { wake(); }};
}

api::SourceServices SourceDoor::source_services() {
  return {.sources = base_.stores().sources(),
          .jobs = base_.stores().jobs(),
          .catalog = base_.catalog(),
          .embedder = base_.embedder(),
          .kinds = kinds_,
          .wake = [this] { wake(); },
          .sync_indexes =
              [this](const CallContext& call, CorpusId corpus) {
                if (const auto synced = base_.sync().sync(call, corpus); !synced) {
                  log(LogLevel::kWarn, "ingest", "the indexes are behind", {{"error", synced.error().message}});
                }
              }};
}

api::UploadServices SourceDoor::upload_services() {
  return {.files = uploads_,
          .jobs = base_.stores().jobs(),
          .catalog = base_.catalog(),
          .embedder = base_.embedder(),
          .wake = [this] { wake(); },
          .bytes_max = upload_bytes_max_};
}

}  // namespace footnote::app
