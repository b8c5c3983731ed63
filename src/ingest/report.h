#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "domain/ids.h"

namespace footnote::ingest {

enum class ProblemKind {
  kIgnored,  ///< Skipped on purpose and not reported: hidden files, version control, links inside the folder.
  kWarning,  ///< Ingested, but something was repaired.
  kProblem,  ///< Skipped, and the user should know.
  kSecret,   ///< A file, or passages of it, kept out because of a secret. The reason names the kind, never the value.
};

/// A file or document that was skipped or has a warning, and why.
struct Problem {
  std::string path;
  std::string reason;
  ProblemKind kind = ProblemKind::kProblem;
};

enum class DocumentChange { kAdded, kUpdated, kUnchanged, kDeleted };

/// The result of one ingest. Counts are documents unless they say chunks.
struct IngestReport {
  std::size_t added = 0;
  std::size_t updated = 0;
  std::size_t unchanged = 0;
  std::size_t deleted = 0;
  std::size_t chunks = 0;           ///< Chunks of added and updated documents.
  std::size_t embedded_chunks = 0;  ///< Chunks sent to the embedder.
  std::size_t reused_chunks = 0;    ///< Chunks that reused the vectors of an equal chunk.
  std::size_t secret_passages = 0;  ///< Passages left out because of a secret.
  Generation generation = 0;        ///< Generation of the last commit; 0 if there was none.
  std::vector<Problem> problems;    ///< All except kIgnored.
  /// Files of a folder that are no documents, counted by kind ("images").
  std::map<std::string, std::size_t> no_documents = {};
};

/// Reported once per document. Added, updated and deleted ones are reported after their commit, so they survive a crash.
struct IngestProgress {
  std::string key;
  DocumentChange change = DocumentChange::kAdded;
  std::size_t chunks = 0;
  std::size_t done = 0;   ///< Documents finished so far, problems included.
  std::size_t total = 0;  ///< Documents found.
};

/// Called on the thread that called ingest.
using ProgressCallback = std::function<void(const IngestProgress&)>;

}  // namespace footnote::ingest
