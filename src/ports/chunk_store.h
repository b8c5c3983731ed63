#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/call_context.h"
#include "domain/catalog.h"
#include "domain/document.h"
#include "domain/point.h"
#include "domain/token_codes.h"
#include "ports/embedder.h"
#include "ports/index.h"

namespace footnote {

/// What an embedder said of a chunk: its vectors in the corpus's space, one per window, and its tokens' codes.
struct ChunkEmbedding {
  std::vector<std::vector<float>> vectors;
  PassageCodes codes;
};

/// What makes a chunk a point from outside (see ports/point_store.h). Its `payload` is the text of a JSON object.
struct PointDraft {
  PointId id;
  std::string payload;
  std::map<std::string, std::vector<float>> named_vectors;
};

/// A chunk on its way into the store.
struct ChunkDraft {
  std::string text;
  std::vector<std::string> heading_path;
  std::string symbol;
  std::string source_type;
  std::string content_hash;
  TextRange range;
  int first_line = 1;
  int last_line = 1;
  std::vector<std::vector<float>> vectors;  ///< In the corpus's space; at least one, but of a point.
  PassageCodes codes = {};
  std::optional<PointDraft> point = {};  ///< Set: not a passage of a document that was read.
};

/// What shall be true of one document after the commit: this text, these chunks and no others.
struct DocumentDraft {
  std::string key;
  SourceId source;
  std::string content_hash;
  DocumentAttributes attributes;
  std::string text;
  std::vector<ChunkDraft> chunks;
  std::vector<Edge> edges;
};

/// What one commit made: the generation, and for each draft, in order, its document.
struct CommitReceipt {
  Generation generation = 0;
  std::vector<Document> documents;
  std::size_t deleted = 0;
};

/// A document version with the text that its chunks' ranges count in.
struct DocumentText {
  Document document;
  std::string text;
  bool labelled = false;  ///< This version or the live one has labels.
};

/// How much is live in a corpus.
struct CorpusCounts {
  std::int64_t documents = 0;
  std::int64_t chunks = 0;
  /// Of those, what has labels: whoever has no labels is told of the rest alone.
  std::int64_t labelled_documents = 0;
  std::int64_t labelled_chunks = 0;
};

/// Reading side: documents, their texts and chunks. Every call is bound to one workspace or a corpus of it; what
/// belongs to another reads as kNotFound. Thread-safe, readers never wait for the writer.
class ChunkReader {
 public:
  virtual ~ChunkReader() = default;
  /// Live documents by key, in key order, after `after_key` (exclusive), at most `limit`.
  virtual Result<std::vector<Document>> documents(const CallContext& call, CorpusId corpus, std::string_view after_key,
                                                  std::size_t limit) const = 0;
  virtual Result<CorpusCounts> counts(const CallContext& call, CorpusId corpus) const = 0;
  /// The live document of that key; nullopt when there is none.
  virtual Result<std::optional<Document>> find_document(const CallContext& call, CorpusId corpus, std::string_view key) const = 0;
  /// A document version's text; version 0 is the live one. Old versions of a live document are kept until purged; of a deleted one none
  /// is there any more. kNotFound, in the same words for what was deleted, belongs to another workspace or never was.
  virtual Result<DocumentText> document_text(const CallContext& call, WorkspaceId workspace, DocumentId document, int version) const = 0;
  /// These chunks with their documents' keys and attributes, in the order asked for; those that are gone are left out.
  struct ChunkRecord {
    Chunk chunk;
    std::string document_key;
    DocumentAttributes document;
  };
  virtual Result<std::vector<ChunkRecord>> chunks(const CallContext& call, CorpusId corpus, std::span<const ChunkId> ids) const = 0;
  /// What changed after a generation, whole generations only, about `rows_max` rows or one generation if that has
  /// more; `to == from` when there is nothing new. Where a purge past `after` left deaths that can't be told any
  /// more, kFailedPrecondition: read from 0, which can always be followed page by page to its end.
  virtual Result<IndexChanges> changes(const CallContext& call, CorpusId corpus, Generation after, std::size_t rows_max) const = 0;
  /// What is known of chunks whose text has these hashes, from any version that is still kept: what need not be
  /// embedded again.
  virtual Result<std::map<std::string, ChunkEmbedding>> embeddings_by_hash(const CallContext& call, CorpusId corpus,
                                                                           std::span<const std::string> hashes) const = 0;
  /// The chunks that were born after a generation and by another, dead ones too until they are purged, in the order of their ids.
  virtual Result<std::vector<ChunkId>> chunk_ids(const CallContext& call, CorpusId corpus, Generation after, Generation until) const = 0;
  /// The codes of these chunks, in the order asked for; those that have none, or are gone, give empty ones.
  virtual Result<std::vector<PassageCodes>> passage_codes(const CallContext& call, CorpusId corpus, std::span<const ChunkId> ids) const = 0;
};

/// Writing side. `commit` replaces the named documents and deletes `deleted_keys` in one atomic, durable step and
/// counts the corpus's generation up by one: when it returns a receipt the data survives a crash or power cut; when
/// it returns an error nothing of it is visible. A commit that changes nothing makes no generation.
/// kStorageFull: the disk is full. kFailedPrecondition: vectors of another dimension than the corpus's space.
class ChunkStore : public ChunkReader {
 public:
  virtual Result<CommitReceipt> commit(const CallContext& call, CorpusId corpus, std::span<const DocumentDraft> drafts,
                                       std::span<const std::string> deleted_keys) = 0;
  /// Lets go of chunks and versions that died before `before` and returns the newest generation among their deaths
  /// (0 when there were none).
  virtual Result<Generation> purge(const CallContext& call, CorpusId corpus, UtcTime before) = 0;
};

}  // namespace footnote
