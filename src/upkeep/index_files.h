#pragma once

#include <filesystem>
#include <map>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "config/settings.h"
#include "domain/catalog.h"
#include "providers/local/saved_index.h"
#include "providers/sqlite/sqlite_chunk_store.h"

namespace footnote::upkeep {

/// The folder of index files in a data folder: one file per corpus and index.
inline constexpr std::string_view kIndexFolder = "indexes";

/// An index is saved again once at least this many rows were added or removed since the last save, and at least 1 / kSaveShare of its rows.
/// With fewer changes, catching up from the old file costs less than writing a new one.
inline constexpr std::uint64_t kSaveRowsMin = 1000;
inline constexpr std::uint64_t kSaveShare = 10;
/// ... or after this many commits: the store identifies a file by its commit and remembers only a limited number.
inline constexpr Generation kSaveGenerations = SqliteChunkStore::kStampsKept / 2;

/// Bound on a corpus's file of token codes; 0: no such file.
inline std::uint64_t code_file_bytes(const Settings& settings) {
  return static_cast<std::uint64_t>(settings.integer(Setting::kIndexCodeFile)) << 20;
}

/// Manages the files of the local indexes. They only speed up the start: a file that is damaged, of another store, model or version, or of
/// a state that a restore discarded is removed, the reason is logged, and its index is filled from the store. Thread-safe.
class IndexFiles {
 public:
  /// `data` is the data folder. Borrows the rest.
  IndexFiles(const std::filesystem::path& data, const SqliteChunkStore& store, std::vector<SavedIndex*> indexes)
      : folder_(data / kIndexFolder), store_(store), indexes_(std::move(indexes)) {}

  /// Removes leftovers of a killed process, and files of deleted corpora.
  void tidy(const std::vector<Corpus>& corpora) const;
  /// Fills the indexes of a corpus from its files where those are usable; IndexSync brings them up to date.
  void load(const CallContext& call, const Corpus& corpus);
  /// Loads the indexes that load() skips because a start need not wait for them. Call after the others are loaded.
  void load_late(const CallContext& call, const Corpus& corpus);

  /// kInBackground: indexes that changed enough, plus those that may lag behind (SavedIndex::lags), whose files take long to write.
  enum class When { kEnoughChanged, kAnythingChanged, kInBackground };
  /// Saves the indexes of a corpus that changed since they were last saved. Failures are logged and retried the next time.
  void save(const CallContext& call, const Corpus& corpus, When when);
  void remove(CorpusId corpus) const;
  void remove(CorpusId corpus, IndexKind kind);
  /// Empties indexes whose files turned out to be damaged while in use, and removes those files; IndexSync refills them from the store.
  void drop_damaged(const CallContext& call, const Corpus& corpus);

  /// Fills one index from its file and changes nothing else. kNotFound: no file. Any other error says why it is unusable.
  Result<IndexHead> load_one(const CallContext& call, const Corpus& corpus, SavedIndex& index) const;
  std::filesystem::path path_of(CorpusId corpus, IndexKind kind) const;

 private:
  Result<void> check_head(const CallContext& call, const Corpus& corpus, const SavedIndex& index, const IndexHead& head) const;
  void load_or_remove(const CallContext& call, const Corpus& corpus, SavedIndex& index);
  Result<void> save_one(const CallContext& call, const Corpus& corpus, const SavedIndex& index);
  bool is_due(CorpusId corpus, const SavedIndex& index, When when);
  Result<bool> is_far_behind(const CallContext& call, const Corpus& corpus, const SavedIndex& index) const;

  // Constant after construction.
  const std::filesystem::path folder_;
  const SqliteChunkStore& store_;
  const std::vector<SavedIndex*> indexes_;

  Mutex mutex_;
  // The extent of each index when its file was last written or read.
  std::map<std::pair<CorpusId, IndexKind>, IndexExtent> saved_ FOOTNOTE_TSA(guarded_by(mutex_));
};

}  // namespace footnote::upkeep
