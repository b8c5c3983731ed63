#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "access/keys.h"
#include "api/routes.h"
#include "app/compose_models.h"
#include "app/index_files.h"
#include "app/index_rebuilder.h"
#include "app/reconcile.h"
#include "app/settings.h"
#include "app/stores.h"
#include "app/terminal.h"
#include "base/metrics.h"
#include "http/client.h"
#include "ingest/index_lag.h"
#include "ingest/index_sync.h"
#include "points/point_search.h"
#include "points/point_writer.h"
#include "points/snapshots.h"
#include "providers/local/local_keyword_index.h"
#include "providers/local/local_late_scorer.h"
#include "providers/local/local_vector_store.h"
#include "providers/local/vector_graphs.h"

namespace footnote::app {

/// Whether commits are brought into the indexes. Off for a process that only writes.
enum class Indexes { kOff, kOn };

struct ComposeOptions {
  Indexes indexes = Indexes::kOn;
  /// What an embedder that was opened before counts in; made here otherwise.
  std::unique_ptr<Metrics> metrics = {};
  /// Taken instead of the configured one: opened before, because the data folder's name depends on it.
  Provided<Embedder> embedder = {};
};

/// All parts of one process on one data folder, wired. The one place that names concrete providers. Parts are
/// borrowed by each other and live as long as this.
class Composition {
 public:
  /// The indexes are empty until build_indexes.
  static Result<std::unique_ptr<Composition>> open(const CallContext& call, const Settings& settings, DataFolder folder,
                                                   ComposeOptions options = {});
  ~Composition();
  Composition(const Composition&) = delete;
  Composition& operator=(const Composition&) = delete;

  DataFolder& folder() { return stores_->folder(); }
  CatalogStore& catalog() { return stores_->catalog(); }
  ChunkStore& chunks() { return stores_->chunks(); }
  const Clock& clock() const { return stores_->clock(); }
  WorkspaceId workspace() const { return stores_->workspace(); }
  access::Keys& keys() { return *keys_; }
  /// Lets whoever can read the data folder in at the server; new with each start.
  const std::string& owner_token() const { return owner_token_; }
  Metrics& metrics() { return *metrics_; }
  Embedder& embedder() { return *embedder_.port; }
  const VectorStore& vectors() const { return vectors_; }
  ingest::IndexSync& sync() { return sync_; }
  IndexFiles& index_files() { return index_files_; }
  LocalVectorStore& local_vectors() { return vectors_; }
  Reconciler& reconciler() { return reconciler_; }
  Stores& stores() { return *stores_; }
  ingest::Ingestor& ingestor() { return ingestor_; }
  const retrieve::Retriever& retriever() const { return retriever_; }
  const answer::AnswerService& answers() const { return answers_; }

  /// What the HTTP routes need, borrowed from here.
  api::Services services(std::vector<std::string> example_questions);

 private:
  /// What is opened before the rest is wired.
  struct Opened {
    std::unique_ptr<Metrics> metrics;
    std::unique_ptr<Stores> stores;
    Provided<Embedder> embedder;
    Provided<Reranker> reranker;
    std::shared_ptr<const Synonyms> synonyms;
  };
  Composition(Opened opened, const Settings& settings, cpu::CpuLevel level, Indexes indexes);
  Result<void> open_keys(const CallContext& call, const Settings& settings);
  void save_index(const CallContext& call, CorpusId corpus);
  std::string corpus_name(CorpusId corpus) const;

  // Each part uses only those above it, so they end in the right order.
  std::unique_ptr<Metrics> metrics_;
  std::unique_ptr<Stores> stores_;
  std::string owner_token_;
  std::unique_ptr<access::Keys> keys_;
  Provided<Embedder> embedder_;
  Provided<Reranker> reranker_;  ///< Its port is null while none is configured.
  LocalVectorStore vectors_;
  VectorGraphs graphs_;
  LocalKeywordIndex keywords_;
  IndexFiles index_files_;
  std::unique_ptr<Reader> reader_;
  std::unique_ptr<http::Client> client_;  ///< Null without a language model.
  std::unique_ptr<Llm> llm_;              ///< Null: the built-in reader answers.
  ingest::IndexSync sync_;
  Reconciler reconciler_;
  ingest::Ingestor ingestor_;
  ingest::IndexLag lag_;
  points::PointSearch point_search_;
  points::PointWriter point_writer_;
  points::Snapshots snapshots_;
  LocalLateScorer late_;
  retrieve::Retriever retriever_;
  std::uint64_t free_bytes_min_;
  answer::AnswerService answers_;
  IndexRebuilder rebuilder_;
};

/// The corpora of every workspace.
Result<std::vector<Corpus>> all_corpora(const CallContext& call, const CatalogStore& catalog);

/// Brings the indexes of every corpus to the store's generation, from their files as far as these reach, and saves those that changed
/// much; a bar shows when that takes a while.
Result<void> build_indexes(const CallContext& call, Composition& parts, const Terminal& terminal);
/// Saves the indexes of every corpus that changed.
void save_indexes(const CallContext& call, Composition& parts, IndexFiles::When when);

}  // namespace footnote::app
