#pragma once

#include <map>
#include <span>
#include <vector>

#include "base/call_context.h"
#include "base/clock.h"
#include "base/metrics.h"
#include "base/mutex.h"
#include "domain/catalog.h"
#include "ports/index.h"

namespace footnote::ingest {

/// Measures how long indexes have been behind the store: the gauge footnote_index_lag_seconds, for the corpus furthest behind, 0 if all are
/// up to date. It is only checked on refresh, so a lag counts from the first refresh that saw it. Thread-safe; borrows everything.
class IndexLag {
 public:
  IndexLag(std::vector<const IndexWriter*> indexes, const Clock& clock, Metrics& metrics);

  /// Checks these corpora, which must be all that the store has. An index that fails to answer is skipped.
  void refresh(const CallContext& call, std::span<const Corpus> corpora);

 private:
  bool is_behind(const CallContext& call, const Corpus& corpus) const;

  const std::vector<const IndexWriter*> indexes_;
  const Clock& clock_;
  Gauge& gauge_;

  Mutex mutex_;
  std::map<CorpusId, UtcTime> behind_since_ FOOTNOTE_TSA(guarded_by(mutex_));
};

}  // namespace footnote::ingest
