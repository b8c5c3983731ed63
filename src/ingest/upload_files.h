#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/file.h"
#include "domain/job.h"
#include "ingest/ingestor.h"
#include "ports/catalog_store.h"

namespace footnote::ingest {

/// Files of one upload.
inline constexpr std::size_t kUploadFilesMax = 100;
/// Files that no job asked for any more are removed after this time.
inline constexpr std::chrono::hours kUploadAgeMax{24 * 7};

/// A received file that waits to be ingested.
struct UploadedFile {
  std::string file;        ///< Its name in the folder of uploads.
  std::string key;         ///< Of the document.
  std::string media_type;  ///< As the client said; may be empty.
  std::int64_t bytes = 0;
};

/// The folder of files that were uploaded and wait for their job. Thread-safe.
class UploadFiles {
 public:
  explicit UploadFiles(std::filesystem::path folder) : folder_(std::move(folder)) {}

  /// Removes what a crash or a failed job left long ago. REQUIRES: no upload is under way.
  void tidy() const;
  /// A new file, to be written and committed; `name` gets its name. Makes the folder if it is missing.
  Result<AtomicFile> create(std::string& name) const;
  Result<std::string> read(std::string_view name) const;
  void remove(std::string_view name) const;

 private:
  const std::filesystem::path folder_;
};

/// The key for a file name that a client sent: a relative path with "/" between names. kInvalidArgument: it leaves its folder, or is none.
Result<std::string> upload_key(std::string_view file_name);

/// A job's input: the files of one upload.
std::string to_job_input(std::span<const UploadedFile> files);
Result<std::vector<UploadedFile>> files_of_job_input(std::string_view input);

/// Ingests the files of an upload job and removes them. Errors: those of the store, the embedder and the call; the files then stay.
Result<JobProgress> ingest_uploads(const CallContext& call, const Job& job, const UploadFiles& files, Ingestor& ingestor,
                                   CatalogStore& catalog, const IngestOptions& options,
                                   const std::function<Result<void>(const JobProgress&)>& report);

}  // namespace footnote::ingest
