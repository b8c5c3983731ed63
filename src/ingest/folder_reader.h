#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "ingest/ingestor.h"
#include "ingest/walk.h"

namespace footnote::ingest {

/// A batch holds at most this many documents, and is full once it has this many bytes.
inline constexpr std::size_t kBatchDocumentsMax = kCommitDocumentsMax;
inline constexpr std::size_t kBatchBytesMax = 1u << 20;

/// Reads a folder, or a single file, for an Ingestor that may be in another process: documents in batches, then the folder's listing. A
/// document's key is the prefix plus its path relative to the folder, with "/" between names, or for a single file the prefix plus its file
/// name.
class FolderReader {
 public:
  /// Errors of walk().
  static Result<FolderReader> open(const CallContext& call, const std::filesystem::path& path, std::string key_prefix, const Clock& clock,
                                   const WalkOptions& options = {});

  /// The canonical path, which identifies the source.
  const std::string& location() const { return location_; }
  std::size_t files() const { return walked_.files.size(); }

  /// The next files with their contents; empty after the last one. Errors are the call's.
  Result<std::vector<MemoryDocument>> next(const CallContext& call);
  /// Files skipped so far, without the ignored ones.
  const std::vector<Problem>& problems() const { return problems_; }
  /// Files so far that are no documents, counted by kind ("images": 12); these are not problems.
  const std::map<std::string, std::size_t>& no_documents() const { return walked_.no_documents; }
  /// REQUIRES: next() returned the last batch.
  const FolderListing& listing() const { return listing_; }

 private:
  FolderReader() = default;
  /// Appends the file to `batch`, or records why not.
  void read(const FoundFile& file, std::vector<MemoryDocument>& batch);

  std::string location_;
  WalkOptions options_;
  WalkResult walked_;
  std::size_t at_ = 0;
  std::vector<Problem> problems_;
  FolderListing listing_;
};

}  // namespace footnote::ingest
