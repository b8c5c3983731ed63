#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/call_context.h"
#include "chunk/chunker.h"
#include "domain/catalog.h"
#include "ingest/report.h"
#include "ingest/walk.h"
#include "ports/chunk_store.h"
#include "ports/embedder.h"

namespace footnote::ingest {

class Committer;
class IndexSync;

/// One commit holds at most this many documents, and no further one once it has this many chunks.
inline constexpr std::size_t kCommitDocumentsMax = 32;
inline constexpr std::size_t kCommitChunksMax = 256;
/// Texts handed to the embedder in one call.
inline constexpr std::size_t kEmbedBatchMax = 64;
/// Documents read and chunked ahead of the embedder.
inline constexpr std::size_t kReadAheadDocumentsMax = 64;
inline constexpr std::size_t kReadAheadBytesMax = 32u << 20;

/// A file or folder to read, and the source that its documents belong to.
struct SourceInput {
  SourceId source;
  std::filesystem::path path;
  /// Put before every key ("handbook/"), for corpora that several folders feed. Part of the key from then on.
  std::string key_prefix;
};

/// A document handed over in memory. What is set here wins over what its text says about itself.
struct MemoryDocument {
  std::string key;
  std::string media_type;  ///< Empty: by the key's extension and the content.
  std::string content;
  std::string title;
  std::string url;
  std::string language;
  std::string canonical_type;
  std::optional<DocumentStatus> status;
  std::optional<EvidenceTier> evidence;
  std::optional<int> priority;
  std::vector<std::string> tags;
  std::vector<std::string> acl_labels;
  std::optional<UtcTime> updated_at = {};
};

/// Whether documents of a folder source whose file is gone are deleted.
enum class Prune { kOn, kOff };
/// What to do with a key whose live document belongs to another source and has another content.
enum class ForeignKey {
  kReport,    ///< Leave it and report a problem: two folders never overwrite each other's README.md.
  kTakeOver,  ///< Replace it; it belongs to this source from then on.
};

/// What to do with passages that hold passwords, tokens and private keys (secret_scan.h).
enum class Secrets {
  kKeepOut,  ///< Not stored; reported as kSecret by kind and path, never by value.
  kAllow,    ///< Stored like all others.
};

struct IngestOptions {
  chunk::ChunkOptions chunking;
  WalkOptions walk;
  Prune prune = Prune::kOn;
  ForeignKey foreign_key = ForeignKey::kReport;
  Secrets secrets = Secrets::kKeepOut;
};

/// The document path: read, detect, parse, chunk, skip what is unchanged, take over vectors of equal chunks, embed
/// the rest, commit. Reading runs ahead of embedding on a thread of its own.
///
/// A document's key is its path relative to the ingested folder, with "/" between names; for a single file its file
/// name; with the input's `key_prefix` before it. Its content hash is document_hash() of its bytes and of how it is read: equal
/// means unchanged. A document whose file became empty, binary or too large is deleted like one whose file is gone:
/// its old text is no longer true. One that can't be read for the moment is kept.
///
/// Errors of one document are problems in the report. Errors of the store, the embedder or the call end the ingest;
/// what was told to the callback is in the store. Thread-safe; the store orders commits.
/// kFailedPrecondition: the embedder's space is not the corpus's.
class Ingestor {
 public:
  /// Borrows all three. `sync` may be null; else indexes are brought up to date while and after ingesting.
  Ingestor(ChunkStore& store, Embedder& embedder, IndexSync* sync) : store_(store), embedder_(embedder), sync_(sync) {}

  /// Told of a corpus after each call that changed it, on the caller's thread: it must not block. REQUIRES: set before the first call.
  void on_change(std::function<void(const Corpus&)> listener) { on_change_ = std::move(listener); }

  Result<IngestReport> ingest(const CallContext& call, const Corpus& corpus, std::span<const SourceInput> inputs,
                              const IngestOptions& options = {}, const ProgressCallback& progress = {});

  /// Deletes nothing: documents that are not named stay. A key that comes twice counts with its last content.
  Result<IngestReport> ingest_documents(const CallContext& call, const Corpus& corpus, SourceId source,
                                        std::span<const MemoryDocument> documents, const IngestOptions& options = {},
                                        const ProgressCallback& progress = {});

  /// Deletes live documents by key; keys that are not there are passed over.
  Result<IngestReport> delete_documents(const CallContext& call, const Corpus& corpus, std::span<const std::string> keys,
                                        const ProgressCallback& progress = {});

 private:
  Result<IngestReport> finish(Committer& committer, const Corpus& corpus);

  ChunkStore& store_;
  Embedder& embedder_;
  IndexSync* const sync_;
  std::function<void(const Corpus&)> on_change_;
};

}  // namespace footnote::ingest
