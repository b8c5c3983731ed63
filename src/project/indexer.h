#pragma once

#include <map>
#include <string>
#include <vector>

#include "code/code_file.h"
#include "domain/project.h"
#include "ingest/ingestor.h"
#include "ingest/walk.h"
#include "ports/catalog_store.h"

namespace footnote::project {

/// A project with more files is refused with kTooLarge.
inline constexpr std::size_t kProjectFilesMax = 100'000;
/// Files skipped that are named in a report; the rest is counted.
inline constexpr std::size_t kProblemsNamedMax = 200;
/// Tables are documents of their own, which no file is.
inline constexpr std::string_view kTablesPrefix = "@tables/";

struct IndexReport {
  std::size_t files = 0;  ///< Read by project memory, unchanged ones too.
  std::size_t changed = 0;
  std::size_t unchanged = 0;
  std::size_t deleted = 0;
  std::size_t chunks = 0;    ///< Of changed files.
  std::size_t embedded = 0;  ///< Sent to the embedder.
  std::size_t reused = 0;    ///< Kept their vectors: the same normalised text.
  std::size_t secret_chunks = 0;
  std::size_t tables = 0;
  std::string language;  ///< Of most of the code.
  std::string framework;
  std::vector<ingest::Problem> problems;  ///< At most kProblemsNamedMax.
  std::size_t problems_left_out = 0;
};

/// Brings a project's corpus to the state of its folder. A file whose bytes are unchanged is not parsed; a chunk whose normalised text is
/// unchanged keeps its vectors, wherever it moved. Files that are gone are deleted. Secrets are kept out as by every ingest. Thread-safe;
/// borrows its ports.
class Indexer {
 public:
  struct Ports {
    ChunkStore& chunks;
    CatalogStore& catalog;
    Embedder& embedder;
    ingest::IndexSync* sync = nullptr;
  };
  Indexer(const Ports& ports, ingest::Secrets secrets) : ports_(ports), secrets_(secrets) {}

  /// Errors of walk() for the root, of the store and of the embedder. What was committed before an error stays.
  Result<IndexReport> index(const CallContext& call, const Project& project) const;
  /// Forgets a file's chunks until it is indexed again; false if it had none.
  Result<bool> invalidate(const CallContext& call, const Project& project, std::string_view path) const;
  /// The project's corpus; created if missing.
  Result<Corpus> corpus(const CallContext& call, const Project& project) const;

 private:
  const Ports ports_;
  const ingest::Secrets secrets_;
};

}  // namespace footnote::project
