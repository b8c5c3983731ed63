#pragma once

#include "ports/chunk_store.h"
#include "ports/live_rows.h"
#include "providers/sqlite/document_cache.h"
#include "providers/sqlite/sqlite_store.h"

namespace footnote {

/// Implements ports/chunk_store.h (ChunkStore, ChunkReader) over the embedded database.
///
/// A document has one row for its identity and one for each stored version; a chunk row belongs to one version and never changes, except
/// that it dies. A draft is unchanged if its key's live version has the same content_hash and attributes. Version numbers continue after
/// deletions while the document's row is kept. In addition to the port: kInvalidArgument for a key that is empty or duplicated in one
/// commit, a chunk without vectors, a number that is not finite; kNotFound for a source of another corpus.
class SqliteChunkStore final : public ChunkStore {
 public:
  /// Number of generations per corpus whose stamps are kept.
  static constexpr Generation kStampsKept = 10'000;

  explicit SqliteChunkStore(SqliteStore& store) : store_(store) {}

  Result<std::vector<Document>> documents(const CallContext& call, CorpusId corpus, std::string_view after_key,
                                          std::size_t limit) const override;
  Result<CorpusCounts> counts(const CallContext& call, CorpusId corpus) const override;
  Result<std::optional<Document>> find_document(const CallContext& call, CorpusId corpus, std::string_view key) const override;
  Result<DocumentText> document_text(const CallContext& call, WorkspaceId workspace, DocumentId document, int version) const override;
  Result<std::vector<DocumentVersion>> versions(const CallContext& call, WorkspaceId workspace, DocumentId document) const override;
  Result<DocumentOriginal> original(const CallContext& call, WorkspaceId workspace, DocumentId document, int version) const override;
  Result<std::vector<ChunkRecord>> chunks(const CallContext& call, CorpusId corpus, std::span<const ChunkId> ids) const override;
  /// `added` contains every stored row born after `after`, even if it died since; a chunk born and died in between is in both lists.
  /// `removed` may name chunks that were purged before the reader ever saw them.
  Result<IndexChanges> changes(const CallContext& call, CorpusId corpus, Generation after, std::size_t rows_max) const override;
  Result<std::map<std::string, ChunkEmbedding>> embeddings_by_hash(const CallContext& call, CorpusId corpus,
                                                                   std::span<const std::string> hashes) const override;
  Result<std::vector<ChunkId>> chunk_ids(const CallContext& call, CorpusId corpus, Generation after, Generation until) const override;
  Result<std::vector<PassageCodes>> passage_codes(const CallContext& call, CorpusId corpus, std::span<const ChunkId> ids) const override;

  Result<CommitReceipt> commit(const CallContext& call, CorpusId corpus, std::span<const DocumentDraft> drafts,
                               std::span<const std::string> deleted_keys) override;
  /// Uses small transactions, so that other writers wait at most a fraction of a second.
  Result<Generation> purge(const CallContext& call, CorpusId corpus, UtcTime before) override;

  /// A random number unique to that commit, which lets derived data recognize its store; nullopt if the corpus has no such generation or it
  /// is too old. Not in the port.
  Result<std::optional<std::int64_t>> stamp(const CallContext& call, CorpusId corpus, Generation generation) const;

  /// The live chunks of the newest generation: a digest that is maintained on write, so reading it is cheap; and the full list, ordered by
  /// id.
  Result<LiveDigest> live_digest(const CallContext& call, CorpusId corpus) const;
  Result<std::vector<LiveRow>> live_rows(const CallContext& call, CorpusId corpus) const;

 private:
  SqliteStore& store_;
  mutable DocumentCache documents_;
};

}  // namespace footnote
