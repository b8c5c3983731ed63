#pragma once

#include <filesystem>

#include "base/call_context.h"
#include "ports/live_rows.h"
#include "providers/local/corpus_indexes.h"
#include "providers/local/index_file.h"

namespace footnote {

/// An index that can be written to a file and read back, beside the ports. Thread-safe.
class SavedIndex {
 public:
  virtual ~SavedIndex() = default;
  virtual IndexKind kind() const = 0;
  /// IndexHead::rules of the files that it writes and reads.
  virtual std::uint32_t rules() const = 0;
  /// True of an aid that answers do not need: it is loaded by IndexFiles::load_late().
  virtual bool loads_late() const { return false; }
  virtual IndexExtent extent(CorpusId corpus) const = 0;
  /// True for an index that finds in the store what its file lacks. Its extent is the file's, and save() takes it to any generation.
  virtual bool lags() const { return false; }

  /// Writes what the index holds of a corpus at head.generation, whole or not at all. kFailedPrecondition when it stands at another.
  /// Answers are the same before and after; an index may let go of memory for what is in the file now. Writers of the corpus wait,
  /// readers do not.
  virtual Result<void> save(const CallContext& call, const std::filesystem::path& path, const IndexHead& head) const = 0;
  /// Takes what the file holds as the corpus of its head, in the place of what is there. Nothing changes unless all is well.
  /// REQUIRES: the file's head is what is wanted. kCorrupted says what is wrong.
  virtual Result<void> load(IndexFileReader& file) = 0;

  /// True when the file that the index reads from turned out to be damaged: the index answers, less exactly, until it is dropped and
  /// filled again from the store.
  virtual bool is_damaged(CorpusId) const { return false; }
  /// Reads what load() left in the file. kCorrupted says what is wrong with it.
  virtual Result<void> check(CorpusId) const { return {}; }
  /// The rows of its newest generation, by chunk, each once. Nothing of an index that keeps no rows.
  virtual std::vector<LiveRow> live_rows(CorpusId) const { return {}; }
  virtual Result<void> drop(const CallContext& call, CorpusId corpus) = 0;
};

}  // namespace footnote
