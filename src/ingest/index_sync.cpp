#include "ingest/index_sync.h"

#include <algorithm>

#include "base/contained.h"
#include "base/fault_point.h"

namespace footnote::ingest {

namespace {

/// An index that ran out of memory during a change may be inconsistent: the error makes the caller drop and rebuild it.
Result<void> apply(const CallContext& call, CorpusId corpus, const IndexChanges& changes, IndexWriter& index) {
  Result<void> applied;
  if (contained("ingest", "changing an index", [&] { applied = index.apply(call, corpus, changes); })) return applied;
  return fail(ErrorCode::kFailedPrecondition, "out of memory");
}

}  // namespace

Mutex& IndexSync::mutex_of(CorpusId corpus) {
  const MutexLock lock(mutex_);
  std::unique_ptr<Mutex>& found = corpora_[corpus];
  if (found == nullptr) found = std::make_unique<Mutex>();
  return *found;
}

Result<Generation> IndexSync::sync(const CallContext& call, CorpusId corpus) {
  const MutexLock lock(mutex_of(corpus));
  return sync_locked(call, corpus);
}

Result<Generation> IndexSync::exchange(const CallContext& call, CorpusId corpus, const std::function<Result<void>()>& work) {
  const MutexLock lock(mutex_of(corpus));
  FOOTNOTE_CHECK(work());
  return sync_locked(call, corpus);
}

Result<Generation> IndexSync::sync_locked(const CallContext& call, CorpusId corpus) {
  Generation reached = 0;
  int rebuilds = 0;
  for (;;) {
    FOOTNOTE_CHECK(call.check());
    const auto more = step(call, corpus, reached);
    if (more && !*more) return reached;
    if (more) continue;
    if (more.error().code != ErrorCode::kFailedPrecondition || ++rebuilds > kRebuildsMax) return std::unexpected(more.error());
    // An index that does not match the store is useless. The error does not say which one, so rebuild all.
    for (IndexWriter* index : indexes_) FOOTNOTE_CHECK(index->drop(call, corpus));
  }
}

/// Advances the indexes that are furthest behind by one step. False if nothing is new for any.
Result<bool> IndexSync::step(const CallContext& call, CorpusId corpus, Generation& reached) {
  std::vector<Generation> at;
  for (const IndexWriter* index : indexes_) {
    FOOTNOTE_TRY(const Generation generation, index->generation(call, corpus));
    at.push_back(generation);
  }
  if (at.empty()) return false;
  const auto [behind, ahead] = std::ranges::minmax(at);
  FOOTNOTE_TRY(const IndexChanges changes, store_.changes(call, corpus, behind, kSyncRowsMax));
  reached = std::max(changes.to, ahead);
  if (changes.to == changes.from) {
    // The store has nothing past `behind`, yet another index claims more: it belongs to another store.
    if (ahead != behind) return fail(ErrorCode::kFailedPrecondition, "an index is ahead of the store");
    return false;
  }
  for (std::size_t i = 0; i < indexes_.size(); ++i) {
    fault_point(FaultPoint::kIndexApply);
    if (at[i] == behind) FOOTNOTE_CHECK(apply(call, corpus, changes, *indexes_[i]));
  }
  return true;
}

Result<Generation> IndexSync::purge(const CallContext& call, CorpusId corpus) {
  const MutexLock lock(mutex_of(corpus));
  // Sync first: an index that has not seen a deletion can't learn of it once the store has purged it.
  FOOTNOTE_CHECK(sync_locked(call, corpus));
  FOOTNOTE_TRY(const Generation died_until, store_.purge(call, corpus, clock_.now() - kPurgeGrace));
  if (died_until == 0) return died_until;
  for (IndexWriter* index : indexes_) FOOTNOTE_CHECK(index->forget(call, corpus, died_until));
  return died_until;
}

}  // namespace footnote::ingest
