#pragma once

#include <memory>
#include <string>

#include "app/compose_models.h"
#include "base/helper_threads.h"
#include "base/metrics.h"
#include "cli/terminal.h"
#include "config/settings.h"
#include "ingest/index_sync.h"
#include "ingest/ingestor.h"
#include "providers/local/local_code_index.h"
#include "providers/local/local_keyword_index.h"
#include "providers/local/local_vector_store.h"
#include "providers/local/vector_graphs.h"
#include "upkeep/index_files.h"
#include "upkeep/reconcile.h"
#include "upkeep/stores.h"

namespace footnote::app {

/// Whether commits update the indexes. Off for a process that only writes.
enum class Indexes { kOff, kOn };

struct IngestOptions {
  Indexes indexes = Indexes::kOn;
  /// The metrics of an embedder that is already open; otherwise created here.
  std::unique_ptr<Metrics> metrics = {};
  /// Replaces the configured embedder. It is already open, because the name of the data folder depends on it.
  Provided<Embedder> embedder = {};
};

/// The parts needed for ingest: an open data folder, its indexes, the embedding model, and the ingestor over them. Parts borrow each other
/// and live as long as this.
class IngestParts {
 public:
  /// The indexes are empty until build_indexes.
  static Result<std::unique_ptr<IngestParts>> open(const CallContext& call, const Settings& settings, DataFolder folder,
                                                   IngestOptions options = {});
  IngestParts(const IngestParts&) = delete;
  IngestParts& operator=(const IngestParts&) = delete;

  upkeep::Stores& stores() { return *stores_; }
  DataFolder& folder() { return stores_->folder(); }
  CatalogStore& catalog() { return stores_->catalog(); }
  ChunkStore& chunks() { return stores_->chunks(); }
  const Clock& clock() const { return stores_->clock(); }
  WorkspaceId workspace() const { return stores_->workspace(); }
  Metrics& metrics() { return *metrics_; }
  Embedder& embedder() { return *embedder_.port; }
  cpu::CpuLevel cpu_level() const { return level_; }
  HelperThreads& helpers() { return helpers_; }
  LocalVectorStore& vectors() { return vectors_; }
  LocalKeywordIndex& keywords() { return keywords_; }
  LocalCodeIndex& codes() { return codes_; }
  upkeep::IndexFiles& index_files() { return index_files_; }
  ingest::IndexSync& sync() { return sync_; }
  ingest::Ingestor& ingestor() { return ingestor_; }

  /// Brings the indexes of every corpus to the store's generation, using their files where possible, and saves those that changed much.
  /// Shows a progress bar if it takes long.
  Result<void> build_indexes(const CallContext& call, const cli::Terminal& terminal);
  /// Saves the indexes of every changed corpus.
  void save_indexes(const CallContext& call, upkeep::IndexFiles::When when);
  /// Drops the indexes of a deleted corpus and their files.
  void forget_corpus(const CallContext& call, CorpusId corpus);

 private:
  /// The parts that can fail to open, opened before the rest is wired.
  struct Opened {
    std::unique_ptr<Metrics> metrics;
    std::unique_ptr<upkeep::Stores> stores;
    Provided<Embedder> embedder;
    std::shared_ptr<const Synonyms> synonyms;
    cpu::CpuLevel level;
  };
  IngestParts(Opened opened, const Settings& settings, Indexes indexes);
  std::vector<SavedIndex*> saved_indexes(const Settings& settings);
  void save_index(const CallContext& call, CorpusId corpus);
  std::string corpus_name(CorpusId corpus) const;

  // Each part uses only those above it, so they are destroyed in the right order.
  const std::unique_ptr<Metrics> metrics_;
  const std::unique_ptr<upkeep::Stores> stores_;
  const Provided<Embedder> embedder_;
  const cpu::CpuLevel level_;
  HelperThreads helpers_;
  LocalVectorStore vectors_;
  VectorGraphs graphs_;
  LocalKeywordIndex keywords_;
  LocalCodeIndex codes_;
  upkeep::IndexFiles index_files_;
  ingest::IndexSync sync_;
  upkeep::Reconciler reconciler_;
  ingest::Ingestor ingestor_;
};

}  // namespace footnote::app
