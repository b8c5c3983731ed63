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

/// The folder of index files in a data folder: one file a corpus and index.
inline constexpr std::string_view kIndexFolder = "indexes";

/// An index is saved again when at least this many rows came and went since, and at least one in kSaveShare of those it has: below
/// that, bringing an older file up to date takes less than writing a new one.
inline constexpr std::uint64_t kSaveRowsMin = 1000;
inline constexpr std::uint64_t kSaveShare = 10;
/// ... or when so many commits came since: the store knows a file by its commit, and remembers only so many.
inline constexpr Generation kSaveGenerations = SqliteChunkStore::kStampsKept / 2;

/// The most that a corpus's file of codes may take; 0: there is none.
inline std::uint64_t code_file_bytes(const Settings& settings) {
  return static_cast<std::uint64_t>(settings.integer(Setting::kIndexCodeFile)) << 20;
}

/// Keeps the local indexes' files. They save time at start and nothing else: a file that is damaged, of another store, model, version
/// or life is removed, with the reason logged, and its index filled from the store. Thread-safe.
class IndexFiles {
 public:
  /// `data` is the data folder. Borrows the rest.
  IndexFiles(const std::filesystem::path& data, const SqliteChunkStore& store, std::vector<SavedIndex*> indexes)
      : folder_(data / kIndexFolder), store_(store), indexes_(std::move(indexes)) {}

  /// Removes what a killed process left, and files of corpora that are not there any more.
  void tidy(const std::vector<Corpus>& corpora) const;
  /// Fills the indexes of a corpus from its files as far as they can be used; IndexSync brings them up to date.
  void load(const CallContext& call, const Corpus& corpus);
  /// The same of those that load() passes over, as a start need not wait for them. Call when the others are there.
  void load_late(const CallContext& call, const Corpus& corpus);

  /// kInBackground: those that changed enough, and indexes that may lag behind (SavedIndex::lags), whose files take long to write and which
  /// nobody waits for.
  enum class When { kEnoughChanged, kAnythingChanged, kInBackground };
  /// Saves the indexes of a corpus that changed since they were. What fails is logged: the next time is as good.
  void save(const CallContext& call, const Corpus& corpus, When when);
  void remove(CorpusId corpus) const;
  void remove(CorpusId corpus, IndexKind kind);
  /// Empties the indexes of a corpus whose files turned out to be damaged while they were read, and removes those; IndexSync fills
  /// them again from the store.
  void drop_damaged(const CallContext& call, const Corpus& corpus);

  /// Fills one index from its file and changes nothing else. kNotFound: there is none. Any other error says why it can't be used.
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
  // What each index was like when its file was written or read.
  std::map<std::pair<CorpusId, IndexKind>, IndexExtent> saved_ FOOTNOTE_TSA(guarded_by(mutex_));
};

}  // namespace footnote::upkeep
