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

/// One commit holds at most this many documents, and no further one once it has this many chunks.
inline constexpr std::size_t kCommitDocumentsMax = 32;
inline constexpr std::size_t kCommitChunksMax = 256;
/// Texts handed to the embedder in one call.
inline constexpr std::size_t kEmbedBatchMax = 64;
/// Documents read and chunked ahead of the embedder.
inline constexpr std::size_t kReadAheadDocumentsMax = 64;
inline constexpr std::size_t kReadAheadBytesMax = 32u << 20;

/// A document in memory. What is set here wins over what its text says about itself.
struct MemoryDocument {
  std::string key;
  std::string media_type;  ///< Empty: by the key's extension and the content.
  std::string content;     ///< The bytes as they are, also where they are not UTF-8.
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

/// Where documents come from.
enum class Origin {
  kUpload,  ///< Somebody sent them, perhaps with attributes. A bad upload deletes nothing.
  /// They are files of a folder. Equal bytes mean unchanged; a file that became binary or has no text any more is deleted from the corpus,
  /// because its old text is no longer true.
  kFile,
};
/// Whether files that are gone, or are no text any more, are deleted from the corpus.
enum class Prune { kOn, kOff };
/// What to do with a key whose live document belongs to another source and has another content.
enum class ForeignKey {
  kReport,    ///< Leave it and report a problem: two folders never overwrite each other's README.md.
  kTakeOver,  ///< Replace it; it belongs to this source from then on.
};

struct IngestOptions {
  chunk::ChunkOptions chunking;
  Origin origin = Origin::kUpload;
  Prune prune = Prune::kOn;
  ForeignKey foreign_key = ForeignKey::kReport;
};

/// What a folder, or a single file, holds now. All keys are whole: with the prefix.
struct FolderListing {
  std::string key_prefix;            ///< Put before the keys of this folder's documents ("handbook/"). Others are left alone.
  std::vector<std::string> present;  ///< Every file that is there.
  std::vector<std::string> unknown;  ///< Files and folders that can't be read for the moment: what is at or below them is kept.
  std::optional<UtcTime> listed_at;  ///< Documents indexed later are kept: they may have come after the folder was listed.
};

/// Why this can't be a document's key; empty when it can.
std::string key_problem(std::string_view key);

/// The document path: detect, parse, chunk, skip what is unchanged, take over vectors of equal chunks, embed the rest, commit. Parsing
/// runs ahead of embedding on a thread of its own. FolderReader (ingest/folder_reader.h) reads folders for it.
///
/// A document's content hash is "<sha256 of the bytes>-p<kParseVersion>": equal means unchanged.
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

  /// Documents that are not named stay. A key that comes twice counts with its last content.
  Result<IngestReport> ingest_documents(const CallContext& call, const Corpus& corpus, SourceId source,
                                        std::span<const MemoryDocument> documents, const IngestOptions& options = {},
                                        const ProgressCallback& progress = {});

  /// Deletes the documents of `source` whose key has the listing's prefix and whose file is gone: it is neither present, nor unknown, nor
  /// indexed after the listing. The one rule for deleted files.
  Result<IngestReport> prune(const CallContext& call, const Corpus& corpus, SourceId source, const FolderListing& listing,
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
