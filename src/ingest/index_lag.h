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

/// Tells how long indexes have been behind the store: the gauge footnote_index_lag_seconds, of the corpus that is
/// furthest behind, 0 when all are up to date. It looks when it is asked, so a lag is counted from the first look
/// that found it. Thread-safe; borrows everything.
class IndexLag {
 public:
  IndexLag(std::vector<const IndexWriter*> indexes, const Clock& clock, Metrics& metrics);

  /// Looks at these corpora, all that there are, as the store has them. An index that can't be asked is passed over.
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
