#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "domain/ids.h"

namespace footnote::ingest {

enum class ProblemKind {
  kIgnored,  ///< Left out on purpose and not worth a word: hidden files, version control, links inside the folder.
  kWarning,  ///< Ingested, but something about it was mended.
  kProblem,  ///< Left out, and the person who asked should know.
  kSecret,   ///< A file, or passages of it, kept out because of a secret. The reason names the kind, never the value.
};

/// One file or document that is not plainly in, and why.
struct Problem {
  std::string path;
  std::string reason;
  ProblemKind kind = ProblemKind::kProblem;
};

enum class DocumentChange { kAdded, kUpdated, kUnchanged, kDeleted };

/// What one ingest did. Counts are of documents unless they say chunks.
struct IngestReport {
  std::size_t added = 0;
  std::size_t updated = 0;
  std::size_t unchanged = 0;
  std::size_t deleted = 0;
  std::size_t chunks = 0;           ///< Of added and updated documents.
  std::size_t embedded_chunks = 0;  ///< Went through the embedder.
  std::size_t reused_chunks = 0;    ///< Took the vectors of an equal chunk.
  std::size_t secret_passages = 0;  ///< Kept out because of a secret.
  Generation generation = 0;        ///< The last commit's; 0 when there was none.
  std::vector<Problem> problems;    ///< Without the ignored.
};

/// Told once per document. Added, updated and deleted ones are told after the commit that holds them: from then on
/// they survive a crash.
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
