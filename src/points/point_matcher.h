#pragma once

#include <list>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "base/call_context.h"
#include "base/mutex.h"
#include "points/payload_filter.h"
#include "points/work.h"
#include "ports/point_store.h"

namespace footnote::points {

/// Bounds of the cache: entries, and the ids in all of them together.
inline constexpr std::size_t kMatchesKeptMax = 256;
inline constexpr std::size_t kMatchedIdsKeptMax = 4'000'000;

using ChunkList = std::shared_ptr<const std::vector<ChunkId>>;  // shared: a search may still use a list that the cache has evicted

/// Finds and caches the chunks of a generation that match a filter. Looks up indexed keys first, then reads and compares the remaining
/// points. Thread-safe.
class PointMatcher {
 public:
  /// Borrows the store.
  explicit PointMatcher(const PointStore& store) : store_(store) {}

  /// In ascending order. kInvalidArgument: more work than the request may do.
  Result<ChunkList> matching(const CallContext& call, CorpusId corpus, Generation generation, const PointFilter& filter, Work& work) const;

 private:
  using Key = std::tuple<CorpusId, Generation, std::string>;
  struct Entry {
    Key key;
    ChunkList chunks;
  };

  /// The result of the index lookups; null if the filter has no indexed condition. `exact`: no further comparison is needed.
  struct Candidates {
    std::optional<std::vector<ChunkId>> chunks;
    bool exact = false;
  };
  Result<Candidates> candidates(const CallContext& call, CorpusId corpus, Generation generation, const PayloadFilter& filter) const;
  Result<std::optional<std::vector<ChunkId>>> look_up(const CallContext& call, CorpusId corpus, Generation generation,
                                                      const Condition& condition) const;
  ChunkList find(const Key& key) const;
  void keep(Key key, const ChunkList& chunks) const;

  const PointStore& store_;
  mutable Mutex mutex_;
  mutable std::list<Entry> entries_ FOOTNOTE_TSA(guarded_by(mutex_));  // most recently used first
  mutable std::map<Key, std::list<Entry>::iterator> by_key_ FOOTNOTE_TSA(guarded_by(mutex_));
  mutable std::size_t ids_kept_ FOOTNOTE_TSA(guarded_by(mutex_)) = 0;
};

}  // namespace footnote::points
