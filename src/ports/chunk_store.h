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

/// An embedder's output for a chunk: its vectors in the corpus's space, one per window, and its tokens' codes.
struct ChunkEmbedding {
  std::vector<std::vector<float>> vectors;
  PassageCodes codes;
};

/// Makes a chunk an external point (see ports/point_store.h). `payload` is a JSON object as text.
struct PointDraft {
  PointId id;
  std::string payload;
  std::map<std::string, std::vector<float>> named_vectors;
};

/// A chunk to be stored.
struct ChunkDraft {
  std::string text;
  std::vector<std::string> heading_path;
  std::string symbol;
  std::string source_type;
  std::string content_hash;
  TextRange range;
  int first_line = 1;
  int last_line = 1;
  Places places = {};
  std::vector<std::vector<float>> vectors;  ///< In the corpus's space; at least one, except for a point.
  PassageCodes codes = {};
  std::optional<PointDraft> point = {};  ///< Set: an external point, not a passage of an ingested document.
};

/// Old versions of a live document that are kept, with text and original, when their chunks are purged.
inline constexpr int kVersionsKeptMax = 10;

/// The bytes that a document was read from.
struct OriginalFile {
  std::string sha256;  ///< Of the bytes, in hexadecimal digits.
  std::string bytes;
};

/// The desired state of one document after the commit: this text, and exactly these chunks.
struct DocumentDraft {
  std::string key;
  SourceId source;
  std::string content_hash;
  DocumentAttributes attributes;
  std::string text;
  std::vector<ChunkDraft> chunks;
  std::vector<Edge> edges;
  std::optional<OriginalFile> original = {};  ///< Nullopt: not kept. Versions with equal bytes share them.
};

/// Result of a commit: the new generation, and the document of each draft, in order.
struct CommitReceipt {
  Generation generation = 0;
  std::vector<Document> documents;
  std::size_t deleted = 0;
};

/// A document version with the text that its chunks' ranges refer to.
struct DocumentText {
  Document document;
  std::string text;
  bool labelled = false;  ///< This version or the live one has access labels.
};

/// One version of a document, without its text.
struct DocumentVersion {
  Document document;
  std::optional<UtcTime> replaced_at;  ///< Nullopt: the live one.
  bool has_original = false;
};

/// The bytes of a document version.
struct DocumentOriginal {
  Document document;
  std::string bytes;
  bool labelled = false;  ///< This version or the live one has labels.
};

/// Live objects of a corpus.
struct CorpusCounts {
  std::int64_t documents = 0;
  std::int64_t chunks = 0;
  /// How many of them have access labels: a caller without labels sees only the counts of the others.
  std::int64_t labelled_documents = 0;
  std::int64_t labelled_chunks = 0;
};

/// Reading side: documents, their texts and chunks. Every call is bound to one workspace or one of its corpora; objects of other workspaces
/// are kNotFound. Thread-safe; readers never wait for the writer.
class ChunkReader {
 public:
  virtual ~ChunkReader() = default;
  /// Live documents in key order, after `after_key` (exclusive), at most `limit`.
  virtual Result<std::vector<Document>> documents(const CallContext& call, CorpusId corpus, std::string_view after_key,
                                                  std::size_t limit) const = 0;
  virtual Result<CorpusCounts> counts(const CallContext& call, CorpusId corpus) const = 0;
  /// The live document with that key, or nullopt.
  virtual Result<std::optional<Document>> find_document(const CallContext& call, CorpusId corpus, std::string_view key) const = 0;
  /// A document version's text; version 0 is the live one. The last kVersionsKeptMax old versions of a live document are kept, older ones
  /// until purged; of a deleted one none is there any more. kNotFound, in the same words for what was deleted, belongs to another workspace
  /// or never was.
  virtual Result<DocumentText> document_text(const CallContext& call, WorkspaceId workspace, DocumentId document, int version) const = 0;
  /// The live version and the old ones that are kept, newest first. kNotFound as above.
  virtual Result<std::vector<DocumentVersion>> versions(const CallContext& call, WorkspaceId workspace, DocumentId document) const = 0;
  /// The bytes that a version was read from; version 0 is the live one. kNotFound as above; kFailedPrecondition: they were not kept.
  virtual Result<DocumentOriginal> original(const CallContext& call, WorkspaceId workspace, DocumentId document, int version) const = 0;
  /// These chunks with their documents' keys and attributes, in the requested order; omits chunks that no longer exist.
  struct ChunkRecord {
    Chunk chunk;
    std::string document_key;
    DocumentAttributes document;
  };
  virtual Result<std::vector<ChunkRecord>> chunks(const CallContext& call, CorpusId corpus, std::span<const ChunkId> ids) const = 0;
  /// Changes after generation `after`: complete generations only, about `rows_max` rows (more if a single generation has more). `to ==
  /// from`: nothing new. kFailedPrecondition: a purge removed deaths later than `after`. Then start again from 0, which always works page
  /// by page.
  virtual Result<IndexChanges> changes(const CallContext& call, CorpusId corpus, Generation after, std::size_t rows_max) const = 0;
  /// Embeddings of chunks whose text has these hashes, from any stored version, so that equal text is not embedded twice.
  virtual Result<std::map<std::string, ChunkEmbedding>> embeddings_by_hash(const CallContext& call, CorpusId corpus,
                                                                           std::span<const std::string> hashes) const = 0;
  /// Chunks with after < born <= until, ordered by id; includes dead ones until they are purged.
  virtual Result<std::vector<ChunkId>> chunk_ids(const CallContext& call, CorpusId corpus, Generation after, Generation until) const = 0;
  /// Codes of these chunks, in the requested order; empty for chunks that have none or no longer exist.
  virtual Result<std::vector<PassageCodes>> passage_codes(const CallContext& call, CorpusId corpus, std::span<const ChunkId> ids) const = 0;
};

/// Writing side. `commit` replaces the given documents and deletes `deleted_keys` in one atomic, durable step, and increments the corpus's
/// generation. Once it returns a receipt, the data survives a crash or power cut; if it returns an error, nothing of it is visible. A
/// commit that changes nothing creates no generation. kStorageFull: the disk is full. kFailedPrecondition: vectors whose dimension differs
/// from the corpus's space.
class ChunkStore : public ChunkReader {
 public:
  virtual Result<CommitReceipt> commit(const CallContext& call, CorpusId corpus, std::span<const DocumentDraft> drafts,
                                       std::span<const std::string> deleted_keys) = 0;
  /// Removes chunks and versions that died before `before`, except for the old versions that are kept, and returns the newest generation
  /// among their deaths (0 if there were none).
  virtual Result<Generation> purge(const CallContext& call, CorpusId corpus, UtcTime before) = 0;
};

}  // namespace footnote
