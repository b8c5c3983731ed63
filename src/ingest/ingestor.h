#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/call_context.h"
#include "base/clock.h"
#include "chunk/chunker.h"
#include "domain/catalog.h"
#include "ingest/report.h"
#include "ports/chunk_store.h"
#include "ports/embedder.h"

namespace footnote::ingest {

class Committer;
class IndexSync;

/// A commit holds at most this many documents, and is full once it has this many chunks.
inline constexpr std::size_t kCommitDocumentsMax = 32;
inline constexpr std::size_t kCommitChunksMax = 256;
/// Texts per embedder call.
inline constexpr std::size_t kEmbedBatchMax = 64;
/// Documents read and chunked ahead of the embedder.
inline constexpr std::size_t kReadAheadDocumentsMax = 64;
inline constexpr std::size_t kReadAheadBytesMax = 32u << 20;

/// A document in memory. Fields set here override what its text says about itself.
struct MemoryDocument {
  std::string key;
  std::string media_type;  ///< Empty: detected from the key's extension and the content.
  std::string content;     ///< The raw bytes, which need not be UTF-8.
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

/// The origin of documents.
enum class Origin {
  kUpload,  ///< Sent by a client, perhaps with attributes. A bad upload deletes nothing.
  /// Files of a folder. Equal bytes mean unchanged; a file that became binary or has no text any more is deleted from the corpus, because
  /// its old text is no longer true.
  kFile,
};
/// Whether files that are gone, or no longer text, are deleted from the corpus.
enum class Prune { kOn, kOff };
/// What to do with a key whose live document belongs to another source and has different content.
enum class ForeignKey {
  kReport,    ///< Leave it and report a problem: two folders never overwrite each other's README.md.
  kTakeOver,  ///< Replace it; it then belongs to this source.
};

/// What to do with passages that contain passwords, tokens or private keys (secret_scan.h).
enum class Secrets {
  kKeepOut,  ///< Do not store them; report them as kSecret by kind and path, never by value.
  kAllow,    ///< Store them like any other passage.
};

/// What to do with the bytes of documents, beside their text.
enum class Originals {
  kDrop,
  kKeep,  ///< Stored, to be opened from citations and to return to old versions. Not those of documents with secrets that are kept out.
};

struct IngestOptions {
  chunk::ChunkOptions chunking;
  Origin origin = Origin::kUpload;
  Prune prune = Prune::kOn;
  ForeignKey foreign_key = ForeignKey::kReport;
  Secrets secrets = Secrets::kKeepOut;
  Originals originals = Originals::kDrop;
};

/// The current contents of a folder, or of a single file. All keys include the prefix.
struct FolderListing {
  std::string key_prefix;            ///< Prepended to the keys of this folder's documents ("handbook/"). Other keys are left alone.
  std::vector<std::string> present;  ///< Every existing file.
  std::vector<std::string> unknown;  ///< Files and folders that are currently unreadable: documents at or below them are kept.
  std::optional<UtcTime> listed_at;  ///< Documents indexed later are kept: they may be newer than the listing.
};

/// Why this is not a valid document key; empty if it is.
std::string key_problem(std::string_view key);

/// The ingest pipeline: detect, parse, chunk, skip unchanged documents, reuse vectors of equal chunks, embed the rest, commit. Parsing runs
/// ahead of embedding on its own thread. FolderReader (ingest/folder_reader.h) reads folders for it.
///
/// A document's content hash is document_hash() of its bytes and the options: an equal hash means unchanged.
///
/// Errors of one document are problems in the report. Errors of the store, the embedder or the call end the ingest; documents already
/// reported to the callback are in the store. Thread-safe; the store orders commits. kFailedPrecondition: the embedder's space is not the
/// corpus's.
class Ingestor {
 public:
  /// Borrows all three. `sync` may be null; otherwise it syncs the indexes during and after an ingest.
  Ingestor(ChunkStore& store, Embedder& embedder, IndexSync* sync) : store_(store), embedder_(embedder), sync_(sync) {}

  /// Called with a corpus after each call that changed it, on the caller's thread: it must not block. REQUIRES: set before the first call.
  void on_change(std::function<void(const Corpus&)> listener) { on_change_ = std::move(listener); }

  /// Documents not listed are kept. If a key occurs twice, its last content wins.
  Result<IngestReport> ingest_documents(const CallContext& call, const Corpus& corpus, SourceId source,
                                        std::span<const MemoryDocument> documents, const IngestOptions& options = {},
                                        const ProgressCallback& progress = {});

  /// Deletes the documents of `source` whose key has the listing's prefix and whose file is gone: not present, not unknown, and not indexed
  /// after the listing. No other code decides about deleted files.
  Result<IngestReport> prune(const CallContext& call, const Corpus& corpus, SourceId source, const FolderListing& listing,
                             const ProgressCallback& progress = {});

  /// Deletes live documents by key; missing keys are skipped.
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
