#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "access/keys.h"
#include "api/routes.h"
#include "app/compose_models.h"
#include "base/helper_threads.h"
#include "base/metrics.h"
#include "cli/terminal.h"
#include "config/settings.h"
#include "http/client.h"
#include "ingest/index_lag.h"
#include "ingest/index_sync.h"
#include "points/memories.h"
#include "points/point_search.h"
#include "points/point_writer.h"
#include "points/snapshots.h"
#include "providers/local/counted_events.h"
#include "providers/local/local_code_index.h"
#include "providers/local/local_keyword_index.h"
#include "providers/local/local_late_scorer.h"
#include "providers/local/local_vector_store.h"
#include "providers/local/vector_graphs.h"
#include "providers/remote/qdrant_search.h"
#include "proxy/chat_policy.h"
#include "retrieve/asked_corpora.h"
#include "retrieve/site_retriever.h"
#include "upkeep/after_ingest.h"
#include "upkeep/index_files.h"
#include "upkeep/index_rebuilder.h"
#include "upkeep/reconcile.h"
#include "upkeep/store_copies.h"
#include "upkeep/stores.h"
#include "upkeep/webhook_sender.h"

namespace footnote::app {

/// Whether commits are brought into the indexes. Off for a process that only writes.
enum class Indexes { kOff, kOn };
/// Whether agents' notes are served, and so their embedder is asked for a vector.
enum class AgentNotes { kOff, kOn };

struct ComposeOptions {
  Indexes indexes = Indexes::kOn;
  /// A model server without llm.model: the proxy can use it, but who asks it for answers of its own can't. Otherwise an error.
  bool model_may_be_unnamed = false;
  AgentNotes notes = AgentNotes::kOff;
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
  upkeep::StoreCopies& copies() { return copies_; }
  points::Memories& memories() { return memories_; }
  const VectorStore& vectors() const { return vectors_; }
  ingest::IndexSync& sync() { return sync_; }
  upkeep::IndexFiles& index_files() { return index_files_; }
  LocalVectorStore& local_vectors() { return vectors_; }
  upkeep::Reconciler& reconciler() { return reconciler_; }
  upkeep::Stores& stores() { return *stores_; }
  ingest::Ingestor& ingestor() { return ingestor_; }
  const retrieve::Retriever& retriever() const { return retriever_; }
  const answer::AnswerService& answers() const { return answers_; }
  const answer::VisitorService& visitors() const { return visitors_; }
  const retrieve::AskedCorpora& corpora() const { return corpora_; }

  /// Starts what a server does in the background for agents: webhooks, and trying gaps again after an ingest. REQUIRES: before the first
  /// ingest.
  void start_agent_work();

  /// What the HTTP routes need, borrowed from here.
  api::Services services(std::vector<std::string> example_questions);

 private:
  /// What is opened before the rest is wired.
  struct Opened {
    std::unique_ptr<Metrics> metrics;
    std::unique_ptr<upkeep::Stores> stores;
    Provided<Embedder> embedder;
    Provided<Embedder> agent_embedder;
    Rerankers reranker;
    proxy::Policy proxy;
    std::shared_ptr<const Synonyms> synonyms;
    std::unique_ptr<Cache> cache;
  };
  Composition(Opened opened, const Settings& settings, cpu::CpuLevel level, Indexes indexes);
  proxy::SearchElsewhere search_elsewhere();
  Result<bool> would_answer(const CallContext& call, const AgentSettings& settings, std::string_view question) const;
  Result<void> open_widget_door(const CallContext& call, const Settings& settings);
  Result<void> open_keys(const CallContext& call, const Settings& settings);
  std::vector<SavedIndex*> saved_indexes(const Settings& settings);
  void save_index(const CallContext& call, CorpusId corpus);
  std::string corpus_name(CorpusId corpus) const;

  // Each part uses only those above it, so they end in the right order.
  std::unique_ptr<Metrics> metrics_;
  std::unique_ptr<upkeep::Stores> stores_;
  std::string owner_token_;
  std::unique_ptr<access::Keys> keys_;
  Provided<Embedder> embedder_;
  Provided<Embedder> agent_embedder_;  ///< Its port is null: agents' notes are embedded by the same as all else.
  Rerankers reranker_;
  HelperThreads helpers_;
  LocalVectorStore vectors_;
  VectorGraphs graphs_;
  LocalKeywordIndex keywords_;
  LocalCodeIndex codes_;
  upkeep::IndexFiles index_files_;
  std::unique_ptr<Reader> reader_;
  std::unique_ptr<http::Client> client_;  ///< Null without a language model.
  std::unique_ptr<Llm> llm_;              ///< Null: the built-in reader answers.
  std::unique_ptr<Llm> follow_up_llm_;    ///< Null: follow-ups are rewritten by words.
  CountedEvents events_;
  ingest::IndexSync sync_;
  upkeep::Reconciler reconciler_;
  ingest::Ingestor ingestor_;
  ingest::IndexLag lag_;
  points::PointSearch point_search_;
  points::PointWriter point_writer_;
  points::Snapshots snapshots_;
  points::Memories memories_;
  LocalLateScorer late_;
  retrieve::Retriever retriever_;
  retrieve::AskedCorpora corpora_;
  const proxy::Policy proxy_policy_;
  std::unique_ptr<http::Client> qdrant_client_;  ///< Null: the own store is searched for the proxy.
  std::unique_ptr<QdrantSearch> qdrant_;
  proxy::SourceFinder source_finder_;
  proxy::ChatPolicy chat_policy_;
  const std::string upstream_url_;  ///< Of the language models.
  const std::string upstream_key_;
  std::uint64_t free_bytes_min_;
  answer::CitationCheck citation_check_;
  answer::CheckLane check_lane_;
  answer::AnswerService answers_;
  answer::RelayedTurns relayed_turns_;
  std::unique_ptr<Cache> cache_;
  retrieve::SiteRetriever site_retriever_;
  answer::VisitorService visitors_;
  std::unique_ptr<api::WidgetDoor> widget_door_;
  upkeep::IndexRebuilder rebuilder_;
  upkeep::StoreCopies copies_;
  const http::Addresses webhook_addresses_;
  std::unique_ptr<upkeep::WebhookSender> webhooks_;  ///< Both are null until start_agent_work.
  std::unique_ptr<upkeep::AfterIngest> after_ingest_;
};

/// Brings the indexes of every corpus to the store's generation, from their files as far as these reach, and saves those that changed
/// much; a bar shows when that takes a while.
Result<void> build_indexes(const CallContext& call, Composition& parts, const cli::Terminal& terminal);
/// Saves the indexes of every corpus that changed.
void save_indexes(const CallContext& call, Composition& parts, upkeep::IndexFiles::When when);

}  // namespace footnote::app
