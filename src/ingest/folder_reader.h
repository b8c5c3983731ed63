#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ingest/folder_source.h"
#include "ingest/ingestor.h"
#include "ingest/walk.h"

namespace footnote::ingest {

/// A batch holds at most this many documents, and is full once it has this many bytes.
inline constexpr std::size_t kBatchDocumentsMax = kCommitDocumentsMax;
inline constexpr std::size_t kBatchBytesMax = 1u << 20;

/// The stamps of files by key: of those, nothing needs to be read again.
using FileStamps = std::map<std::string, std::string>;

/// Reads a folder, or a single file, for an Ingestor that may be in another process: documents in batches, then the folder's listing. Keys
/// are those of FolderItems.
class FolderReader {
 public:
  /// Errors of walk(). Files whose stamp is in `known` are listed but not read.
  static Result<FolderReader> open(const CallContext& call, const std::filesystem::path& path, std::string key_prefix, const Clock& clock,
                                   const WalkOptions& options = {}, const FileStamps& known = {});

  /// The canonical path, which identifies the source.
  const std::string& location() const { return location_; }
  std::size_t files() const { return items_.items.size(); }
  /// Bytes of all files to be read, and of those that next() has read: what the time to go depends on.
  std::uint64_t bytes() const { return bytes_; }
  std::uint64_t bytes_read() const { return bytes_read_; }

  /// The next files with their contents; empty after the last one. Errors are the call's.
  Result<std::vector<MemoryDocument>> next(const CallContext& call);
  /// Files skipped so far, without the ignored ones.
  const std::vector<Problem>& problems() const { return items_.problems; }
  /// Files that are no documents so far, by kind ("images": 12): left out without a problem.
  const std::map<std::string, std::size_t>& no_documents() const { return items_.no_documents; }
  /// REQUIRES: next() returned the last batch.
  const FolderListing& listing() const { return listing_; }
  /// Of the files that need not be read again while they keep them.
  const FileStamps& stamps() const { return stamps_; }

 private:
  FolderReader() = default;
  /// Appends the file to `batch`, or records why not.
  Result<void> read(const CallContext& call, const SourceItem& item, std::vector<MemoryDocument>& batch);

  std::string location_;
  std::unique_ptr<FolderItems> folder_;
  SourceItems items_;
  std::size_t at_ = 0;
  std::uint64_t bytes_ = 0;
  std::uint64_t bytes_read_ = 0;
  FolderListing listing_;
  FileStamps stamps_;
};

}  // namespace footnote::ingest
