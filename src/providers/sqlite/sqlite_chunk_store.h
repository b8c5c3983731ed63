#pragma once

#include "ports/chunk_store.h"
#include "ports/live_rows.h"
#include "providers/sqlite/document_cache.h"
#include "providers/sqlite/sqlite_store.h"

namespace footnote {

/// Implements ports/chunk_store.h (ChunkStore, ChunkReader) over the embedded database.
///
/// A document has a row for its identity and one for each kept version; a chunk row belongs to one version and is
/// never changed but to die. A draft is unchanged when its key's live version has the same content_hash and the
/// same attributes. Versions count on over deletions for as long as the document's row is kept.
/// Beyond the port: kInvalidArgument for a key that is empty or named twice in one commit, a chunk without
/// vectors, a number that is not finite; kNotFound for a source of another corpus.
class SqliteChunkStore final : public ChunkStore {
 public:
  /// Generations of a corpus whose stamps are kept.
  static constexpr Generation kStampsKept = 10'000;

  explicit SqliteChunkStore(SqliteStore& store) : store_(store) {}

  Result<std::vector<Document>> documents(const CallContext& call, CorpusId corpus, std::string_view after_key,
                                          std::size_t limit) const override;
  Result<CorpusCounts> counts(const CallContext& call, CorpusId corpus) const override;
  Result<std::optional<Document>> find_document(const CallContext& call, CorpusId corpus, std::string_view key) const override;
  Result<DocumentText> document_text(const CallContext& call, WorkspaceId workspace, DocumentId document, int version) const override;
  Result<std::vector<ChunkRecord>> chunks(const CallContext& call, CorpusId corpus, std::span<const ChunkId> ids) const override;
  /// Every kept row born after `after` is in `added`, those that died since as well; a chunk that was born and died
  /// in between is in both lists. `removed` may name chunks that were purged before the reader ever saw them.
  Result<IndexChanges> changes(const CallContext& call, CorpusId corpus, Generation after, std::size_t rows_max) const override;
  Result<std::map<std::string, ChunkEmbedding>> embeddings_by_hash(const CallContext& call, CorpusId corpus,
                                                                   std::span<const std::string> hashes) const override;
  Result<std::vector<ChunkId>> chunk_ids(const CallContext& call, CorpusId corpus, Generation after, Generation until) const override;
  Result<std::vector<PassageCodes>> passage_codes(const CallContext& call, CorpusId corpus, std::span<const ChunkId> ids) const override;

  Result<CommitReceipt> commit(const CallContext& call, CorpusId corpus, std::span<const DocumentDraft> drafts,
                               std::span<const std::string> deleted_keys) override;
  /// Works in small transactions, so that other writers wait for a fraction of a second at most.
  Result<Generation> purge(const CallContext& call, CorpusId corpus, UtcTime before) override;

  /// A number drawn for that commit alone, by which data derived from it knows its own store again; nullopt when the
  /// corpus has no such generation, or one too old to be remembered. Not in the port.
  Result<std::optional<std::int64_t>> stamp(const CallContext& call, CorpusId corpus, Generation generation) const;

  /// Of the live chunks of the newest generation: a digest that is kept, so that it costs nothing to ask for; and all of them, by id.
  Result<LiveDigest> live_digest(const CallContext& call, CorpusId corpus) const;
  Result<std::vector<LiveRow>> live_rows(const CallContext& call, CorpusId corpus) const;

 private:
  SqliteStore& store_;
  mutable DocumentCache documents_;
};

}  // namespace footnote
