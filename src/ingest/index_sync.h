#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "base/call_context.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "domain/ids.h"
#include "ports/chunk_store.h"
#include "ports/index.h"

namespace footnote::ingest {

/// How long dead rows stay findable for readers that pinned an older generation.
inline constexpr std::chrono::minutes kPurgeGrace{10};
/// Rows read from the store per step.
inline constexpr std::size_t kSyncRowsMax = 4096;
/// A sync fails if an index still does not match the store after this many rebuilds.
inline constexpr int kRebuildsMax = 2;

/// Keeps the indexes (vector, keyword) at the chunk store's generation. An index is a cache: one that does not match the store is dropped
/// and rebuilt. Thread-safe: one sync per corpus at a time; corpora do not block each other.
class IndexSync {
 public:
  /// Borrows everything for its lifetime.
  IndexSync(ChunkStore& store, std::vector<IndexWriter*> indexes, const Clock& clock)
      : store_(store), indexes_(std::move(indexes)), clock_(clock) {}

  /// Brings every index to the store's newest generation and returns it. Call after commits and at start.
  Result<Generation> sync(const CallContext& call, CorpusId corpus);

  /// Runs `work` while nothing else changes the corpus's indexes, then syncs. For work that replaces the indexes.
  Result<Generation> exchange(const CallContext& call, CorpusId corpus, const std::function<Result<void>()>& work);

  /// Syncs, then purges rows that died more than kPurgeGrace ago from the store and the indexes. Returns the newest purged generation, 0
  /// for none.
  Result<Generation> purge(const CallContext& call, CorpusId corpus);

 private:
  Mutex& mutex_of(CorpusId corpus);
  Result<Generation> sync_locked(const CallContext& call, CorpusId corpus);
  Result<bool> step(const CallContext& call, CorpusId corpus, Generation& reached);

  // Constant after construction.
  ChunkStore& store_;
  const std::vector<IndexWriter*> indexes_;
  const Clock& clock_;

  Mutex mutex_;
  std::map<CorpusId, std::unique_ptr<Mutex>> corpora_ FOOTNOTE_TSA(guarded_by(mutex_));
};

}  // namespace footnote::ingest
