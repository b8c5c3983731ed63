#pragma once

#include <filesystem>

#include "base/call_context.h"
#include "ports/live_rows.h"
#include "providers/local/corpus_indexes.h"
#include "providers/local/index_file.h"

namespace footnote {

/// An index that can be saved to a file and loaded from it; implemented in addition to the ports. Thread-safe.
class SavedIndex {
 public:
  virtual ~SavedIndex() = default;
  virtual IndexKind kind() const = 0;
  /// IndexHead::rules of the files it writes and reads.
  virtual std::uint32_t rules() const = 0;
  /// True for an index that only speeds up answers: it is loaded by IndexFiles::load_late().
  virtual bool loads_late() const { return false; }
  virtual IndexExtent extent(CorpusId corpus) const = 0;
  /// True for an index that reads from the store what its file lacks. Its extent is the file's, and save() may be called for any
  /// generation.
  virtual bool lags() const { return false; }

  /// Saves a corpus's index at head.generation, atomically. kFailedPrecondition if it is at another generation. Does not change search
  /// results; an index may free memory for data that is now in the file. Blocks writers of the corpus, not readers.
  virtual Result<void> save(const CallContext& call, const std::filesystem::path& path, const IndexHead& head) const = 0;
  /// Replaces the index of the corpus in the file's head by the file's contents. Changes nothing unless the whole file is valid. REQUIRES:
  /// the file's head is the expected one. kCorrupted says what is wrong.
  virtual Result<void> load(IndexFileReader& file) = 0;

  /// True if the file that the index reads from turned out to be damaged: the index still answers, less exactly, until it is dropped and
  /// rebuilt from the store.
  virtual bool is_damaged(CorpusId) const { return false; }
  /// Verifies the data that load() left in the file. kCorrupted says what is wrong with it.
  virtual Result<void> check(CorpusId) const { return {}; }
  /// The rows of the newest generation, ordered by chunk, without duplicates. Empty for an index that keeps no rows.
  virtual std::vector<LiveRow> live_rows(CorpusId) const { return {}; }
  virtual Result<void> drop(const CallContext& call, CorpusId corpus) = 0;
};

}  // namespace footnote
