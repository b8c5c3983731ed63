#pragma once

#include <functional>
#include <map>
#include <string>

#include "base/mutex.h"
#include "domain/job.h"
#include "ingest/folder_reader.h"
#include "ingest/source_kind.h"
#include "ports/catalog_store.h"
#include "ports/source_store.h"

namespace footnote::ingest {

/// Items of one source; a sync that finds more reads those and deletes nothing.
inline constexpr std::size_t kSourceItemsMax = kFilesMax;
/// Stamps remembered for one source; one with more items is read whole at every sync.
inline constexpr std::size_t kStampsMax = 200'000;
/// What an item counts whose size is not known.
inline constexpr std::int64_t kItemBytesUnknown = 20'000;

/// Whether items with the stamp of the last sync are taken for unchanged without reading them. A drift scan trusts nothing.
enum class Stamps { kTrust, kIgnore };

/// Syncs sources: lists, reads what changed, ingests it, deletes what is gone. The only place that does so, for every kind. Documents are
/// committed batch by batch; a sync that was interrupted is simply run again. Thread-safe; one sync of a source at a time.
class SourceSync {
 public:
  struct Ports {
    Ingestor& ingestor;
    CatalogStore& catalog;
    const ChunkReader& chunks;
    SourceStore& sources;
    const SourceKinds& kinds;
    const Clock& clock;
  };
  struct Options {
    Secrets secrets = Secrets::kKeepOut;
    Originals originals = Originals::kDrop;
  };
  /// Everything is borrowed.
  SourceSync(Ports ports, Options options) : ports_(ports), options_(options) {}

  /// Called between documents, on the caller's thread; an error ends the sync with it.
  using OnProgress = std::function<Result<void>(const JobProgress&)>;
  /// A document that cannot be ingested is an error in the progress, backs off, and holds up nothing. Errors: those of the kind, the store,
  /// the embedder and the call; what was committed by then stays. kUnsupported: sources of this kind are not synced.
  Result<JobProgress> run(const CallContext& call, const SourceRecord& source, Stamps stamps, const OnProgress& on_progress);
  /// Forgets what a deleted source needed.
  void forget(SourceId source);

 private:
  FileStamps stamps_of(SourceId source) const;

  const Ports ports_;
  const Options options_;
  mutable Mutex mutex_;
  std::map<SourceId, FileStamps> stamps_ FOOTNOTE_TSA(guarded_by(mutex_));
};

}  // namespace footnote::ingest
