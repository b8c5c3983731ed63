#pragma once

#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "fakes/faults.h"
#include "ports/catalog_store.h"
#include "ports/chunk_store.h"
#include "ports/conversation_store.h"
#include "ports/event_sink.h"
#include "ports/point_store.h"
#include "ports/webhook_store.h"

namespace footnote::fakes {

/// The store in memory: catalog, documents with their generations, turns and gaps, events. Fulfils its ports' contracts except durability.
/// The workspace "default" always exists. Thread-safe. In addition to the ports, like the embedded store: kInvalidArgument for a key that
/// is empty or duplicated in one commit and for a chunk without vectors; kNotFound for a turn or an event whose corpus is not in its
/// workspace; kAlreadyExists for a turn or key that exists.
class MemoryStore : public ChunkStore, public CatalogStore, public ConversationStore, public EventSink, public PointStore {
 public:
  explicit MemoryStore(const Clock& clock);

  // ChunkStore (memory_chunks.cpp)
  Result<std::vector<Document>> documents(const CallContext& call, CorpusId corpus, std::string_view after_key,
                                          std::size_t limit) const override;
  Result<CorpusCounts> counts(const CallContext& call, CorpusId corpus) const override;
  Result<std::optional<Document>> find_document(const CallContext& call, CorpusId corpus, std::string_view key) const override;
  Result<DocumentText> document_text(const CallContext& call, WorkspaceId workspace, DocumentId document, int version) const override;
  Result<std::vector<DocumentVersion>> versions(const CallContext& call, WorkspaceId workspace, DocumentId document) const override;
  Result<DocumentOriginal> original(const CallContext& call, WorkspaceId workspace, DocumentId document, int version) const override;
  Result<std::vector<ChunkRecord>> chunks(const CallContext& call, CorpusId corpus, std::span<const ChunkId> ids) const override;
  Result<IndexChanges> changes(const CallContext& call, CorpusId corpus, Generation after, std::size_t rows_max) const override;
  Result<std::map<std::string, ChunkEmbedding>> embeddings_by_hash(const CallContext& call, CorpusId corpus,
                                                                   std::span<const std::string> hashes) const override;
  Result<std::vector<ChunkId>> chunk_ids(const CallContext& call, CorpusId corpus, Generation after, Generation until) const override;
  Result<std::vector<PassageCodes>> passage_codes(const CallContext& call, CorpusId corpus, std::span<const ChunkId> ids) const override;
  Result<CommitReceipt> commit(const CallContext& call, CorpusId corpus, std::span<const DocumentDraft> drafts,
                               std::span<const std::string> deleted_keys) override;
  Result<Generation> purge(const CallContext& call, CorpusId corpus, UtcTime before) override;

  // CatalogStore (memory_catalog.cpp)
  Result<std::vector<Workspace>> workspaces(const CallContext& call) const override;
  Result<Workspace> add_workspace(const CallContext& call, std::string_view name) override;
  Result<Workspace> find_workspace(const CallContext& call, std::string_view name) const override;
  Result<std::vector<Corpus>> corpora(const CallContext& call, WorkspaceId workspace) const override;
  Result<Corpus> find_corpus(const CallContext& call, WorkspaceId workspace, std::string_view name) const override;
  Result<Corpus> corpus(const CallContext& call, CorpusId id) const override;
  Result<Corpus> ensure_corpus(const CallContext& call, WorkspaceId workspace, std::string_view name, const EmbeddingSpace& space) override;
  Result<void> set_gate(const CallContext& call, CorpusId corpus, const std::optional<GateCalibration>& gate) override;
  Result<Source> ensure_source(const CallContext& call, CorpusId corpus, SourceKind kind, std::string_view location) override;
  Result<void> mark_synced(const CallContext& call, SourceId source, UtcTime at) override;
  Result<ApiKey> add_key(const CallContext& call, const ApiKey& key) override;
  Result<std::vector<ApiKey>> keys(const CallContext& call) const override;
  Result<ApiKey> end_key(const CallContext& call, ApiKeyId id, UtcTime at) override;
  Result<ApiKey> revoke_key(const CallContext& call, ApiKeyId id, UtcTime at) override;
  Result<void> note_key_usage(const CallContext& call, std::span<const std::pair<ApiKeyId, KeyUsage>> usage) override;
  Result<std::string> key_pepper(const CallContext& call) override;

  // ConversationStore (memory_conversations.cpp)
  Result<void> finish_turn(const CallContext& call, const Turn& turn, std::int64_t prompt_tokens, std::int64_t completion_tokens,
                           std::string_view trace) override;
  Result<Turn> turn(const CallContext& call, WorkspaceId workspace, const TurnId& id) const override;
  Result<std::string> trace(const CallContext& call, WorkspaceId workspace, const TurnId& id) const override;
  Result<std::vector<Turn>> history(const CallContext& call, WorkspaceId workspace, const ConversationId& id,
                                    std::size_t limit) const override;
  Result<std::vector<Gap>> gaps(const CallContext& call, CorpusId corpus, std::size_t limit) const override;
  Result<std::vector<Gap>> content_gaps(const CallContext& call, const GapQuery& query) const override;
  Result<Gap> resolve_gap(const CallContext& call, WorkspaceId workspace, GapId gap, UtcTime at) override;
  Result<Gap> report_gap(const CallContext& call, WorkspaceId workspace, CorpusId corpus, std::string_view question, GapReason reason,
                         UtcTime at) override;
  Result<std::vector<UsageDay>> usage(const CallContext& call, WorkspaceId workspace, std::size_t days) const override;

  // ConversationStore, of visitors (memory_visits.cpp)
  Result<void> rate_turn(const CallContext& call, WorkspaceId workspace, const VisitorId& visitor, const TurnId& turn,
                         const Feedback& feedback) override;
  Result<std::vector<AgentGap>> agent_gaps(const CallContext& call, WorkspaceId workspace, const AgentId& agent,
                                           std::optional<GapStatus> status, std::size_t limit) const override;
  Result<AgentGap> agent_gap(const CallContext& call, WorkspaceId workspace, GapId gap) const override;
  Result<AgentGap> set_gap_status(const CallContext& call, WorkspaceId workspace, GapId gap, GapStatus status) override;
  Result<std::vector<AgentUsageDay>> agent_usage(const CallContext& call, WorkspaceId workspace, const AgentId& agent,
                                                 std::size_t days) const override;
  Result<std::vector<Turn>> visitor_turns(const CallContext& call, WorkspaceId workspace, const VisitorId& visitor) const override;
  Result<std::size_t> erase_visitor(const CallContext& call, WorkspaceId workspace, const VisitorId& visitor) override;
  Result<std::size_t> erase_turns(const CallContext& call, WorkspaceId workspace, const AgentId& agent, UtcTime before,
                                  std::size_t limit) override;

  // PointStore (memory_points.cpp)
  Result<std::vector<Point>> points(const CallContext& call, CorpusId corpus, std::span<const PointId> ids,
                                    PointVectors vectors) const override;
  Result<std::vector<Point>> points_of(const CallContext& call, CorpusId corpus, std::span<const ChunkId> chunks,
                                       PointVectors vectors) const override;
  Result<std::vector<Point>> scroll(const CallContext& call, CorpusId corpus, const std::optional<PointId>& from, std::size_t limit,
                                    PointVectors vectors) const override;
  Result<void> each(const CallContext& call, CorpusId corpus, const std::function<Result<void>(const Point&)>& take) const override;
  Result<void> visit(const CallContext& call, CorpusId corpus, Generation generation, const std::vector<ChunkId>* among,
                     const PointVisitor& visitor) const override;
  Result<std::optional<std::vector<ChunkId>>> looked_up(const CallContext& call, CorpusId corpus, Generation generation,
                                                        std::string_view field, std::span<const PayloadKey> values) const override;
  Result<void> put_index(const CallContext& call, CorpusId corpus, const PayloadIndex& index) override;
  Result<bool> delete_index(const CallContext& call, CorpusId corpus, std::string_view field) override;
  Result<std::vector<PayloadIndex>> indexes(const CallContext& call, CorpusId corpus) const override;
  Result<Collection> collection(const CallContext& call, WorkspaceId workspace, std::string_view name) const override;
  Result<Collection> create_collection(const CallContext& call, const Collection& wanted) override;
  Result<void> set_config(const CallContext& call, CorpusId corpus, std::string_view config) override;
  Result<void> delete_collection(const CallContext& call, CorpusId corpus) override;
  Result<std::vector<CollectionAlias>> aliases(const CallContext& call, WorkspaceId workspace) const override;
  Result<void> change_aliases(const CallContext& call, WorkspaceId workspace, std::span<const AliasChange> changes) override;

  // EventSink
  Result<void> append(const CallContext& call, const Event& event) override;
  void token_streamed(const TokenStreamed& event) noexcept override;
  void turn_completed(const TurnCompleted& event) noexcept override;

  // For tests.
  /// Webhook messages about turns and gaps are queued there, as in the embedded store. Borrowed.
  void tell_to(WebhookStore& webhooks) { webhooks_ = &webhooks; }
  Faults& commit_faults() { return commit_faults_; }
  Faults& finish_turn_faults() { return finish_turn_faults_; }
  Faults& append_faults() { return append_faults_; }
  /// The edges that live documents state, in the order of their keys.
  Result<std::vector<Edge>> live_edges(CorpusId corpus) const;
  /// Forgets the turns of a chat.
  void erase_conversation(WorkspaceId workspace, const ConversationId& id);
  std::vector<Source> all_sources() const;
  void forget_source(SourceId source);
  /// Every turn in the order in which they were stored.
  std::vector<Turn> all_turns() const;
  std::vector<Event> all_events() const;
  /// Transient notifications in order: "token TEXT", "completed".
  std::vector<std::string> passed() const;
  /// Forgets the deaths of purged chunks: an index that has not seen them must start over.
  void lose_purged_deaths(CorpusId corpus);
  /// Number of write calls of any kind.
  std::size_t writes() const { return commit_faults_.calls() + finish_turn_faults_.calls() + append_faults_.calls(); }

 private:
  struct StoredChunk {
    Chunk chunk;
    std::string document_key;
    DocumentAttributes attributes;
    std::vector<std::vector<float>> vectors;
    PassageCodes codes;
    std::optional<PointDraft> point;
    UtcTime indexed_at;
  };
  struct StoredVersion {
    Document document;
    std::string text;
    std::vector<ChunkId> chunks;
    std::optional<Generation> died;
    UtcTime died_at;
    bool kept = false;
    std::optional<OriginalFile> original = {};
    std::vector<Edge> edges = {};
  };
  /// The changes of one generation. Deaths are kept after a purge, so that a lagging index can catch up.
  struct Step {
    std::vector<ChunkId> born;
    std::vector<ChunkId> died;
  };
  struct StoredCorpus {
    Corpus corpus;
    std::map<std::string, DocumentId, std::less<>> ids;  ///< Ids by key; kept after deletions.
    std::map<DocumentId, std::vector<StoredVersion>> versions;
    std::map<ChunkId, StoredChunk> chunks;
    std::map<DocumentId, int> last_version;
    std::map<Generation, Step> steps;
    Generation lost_until = 0;  ///< Deaths up to this generation are no longer known.
    std::string config = "{}";
    std::map<std::string, PayloadIndex, std::less<>> indexes = {};

    /// The last generation of the page of changes that starts after `after`.
    Generation end_of_page(Generation after, std::size_t rows_max) const;
    const StoredVersion* live(std::string_view key) const;
    StoredVersion* live(std::string_view key);
  };

  Result<const StoredCorpus*> stored(CorpusId corpus) const FOOTNOTE_TSA(requires_capability(mutex_));
  Result<StoredCorpus*> stored(CorpusId corpus) FOOTNOTE_TSA(requires_capability(mutex_));
  static Point point_from(const StoredChunk& stored);
  const StoredCorpus* find_named(WorkspaceId workspace, std::string_view name) const FOOTNOTE_TSA(requires_capability(mutex_));
  Result<void> check_in_workspace(CorpusId corpus, WorkspaceId workspace) const FOOTNOTE_TSA(requires_capability(mutex_));
  Result<void> check_drafts(const StoredCorpus& corpus, std::span<const DocumentDraft> drafts,
                            std::span<const std::string> deleted_keys) const FOOTNOTE_TSA(requires_capability(mutex_));
  void kill(StoredCorpus& corpus, std::string_view key, Generation generation) FOOTNOTE_TSA(requires_capability(mutex_));
  static void keep_version(StoredCorpus& corpus, const Document& document);
  void add_version(StoredCorpus& corpus, const DocumentDraft& draft, Generation generation) FOOTNOTE_TSA(requires_capability(mutex_));
  const Gap& roll_up_gap(WorkspaceId workspace, CorpusId corpus, std::string_view question, GapReason reason, UtcTime at)
      FOOTNOTE_TSA(requires_capability(mutex_));
  void count_turn(const Turn& turn, std::int64_t prompt_tokens, std::int64_t completion_tokens) FOOTNOTE_TSA(requires_capability(mutex_));
  void count_visit(const Turn& turn, std::int64_t prompt_tokens, std::int64_t completion_tokens) FOOTNOTE_TSA(requires_capability(mutex_));
  Result<void> finish_visit(const CallContext& call, const Turn& turn, std::int64_t prompt_tokens, std::int64_t completion_tokens)
      FOOTNOTE_TSA(requires_capability(mutex_));
  Result<void> roll_up_visit(const CallContext& call, const Turn& turn, GapReason reason, UtcTime at)
      FOOTNOTE_TSA(requires_capability(mutex_));
  Result<void> tell(const CallContext& call, const WebhookNews& news);
  void erase(const std::vector<TurnId>& ids) FOOTNOTE_TSA(requires_capability(mutex_));
  std::int64_t next_id() FOOTNOTE_TSA(requires_capability(mutex_)) { return ++last_id_; }

  const Clock& clock_;
  WebhookStore* webhooks_ = nullptr;
  Faults commit_faults_;
  Faults finish_turn_faults_;
  Faults append_faults_;

  mutable Mutex mutex_;
  std::int64_t last_id_ FOOTNOTE_TSA(guarded_by(mutex_)) = 0;
  std::vector<Workspace> workspaces_ FOOTNOTE_TSA(guarded_by(mutex_));
  std::map<CorpusId, StoredCorpus> corpora_ FOOTNOTE_TSA(guarded_by(mutex_));
  std::map<std::pair<WorkspaceId, std::string>, CorpusId> aliases_ FOOTNOTE_TSA(guarded_by(mutex_));
  std::vector<Source> sources_ FOOTNOTE_TSA(guarded_by(mutex_));
  std::vector<ApiKey> keys_ FOOTNOTE_TSA(guarded_by(mutex_));
  std::vector<Turn> turns_ FOOTNOTE_TSA(guarded_by(mutex_));
  std::map<std::pair<WorkspaceId, TurnId>, std::string> traces_ FOOTNOTE_TSA(guarded_by(mutex_));
  std::map<std::tuple<CorpusId, GapReason, std::string>, Gap> gaps_ FOOTNOTE_TSA(guarded_by(mutex_));
  std::map<std::pair<WorkspaceId, std::string>, UsageDay> usage_ FOOTNOTE_TSA(guarded_by(mutex_));
  std::map<std::tuple<WorkspaceId, AgentId, std::string>, AgentGap> agent_gaps_ FOOTNOTE_TSA(guarded_by(mutex_));
  std::map<std::tuple<WorkspaceId, AgentId, std::string>, AgentUsageDay> agent_usage_ FOOTNOTE_TSA(guarded_by(mutex_));
  std::map<std::pair<WorkspaceId, VisitorId>, UtcTime> erasures_ FOOTNOTE_TSA(guarded_by(mutex_));
  std::map<TurnId, GapId> gap_of_turn_ FOOTNOTE_TSA(guarded_by(mutex_));
  std::vector<Event> events_ FOOTNOTE_TSA(guarded_by(mutex_));
  std::vector<std::string> passed_ FOOTNOTE_TSA(guarded_by(mutex_));
};

}  // namespace footnote::fakes
