#include "ingest/index_lag.h"

#include <algorithm>

namespace footnote::ingest {

IndexLag::IndexLag(std::vector<const IndexWriter*> indexes, const Clock& clock, Metrics& metrics)
    : indexes_(std::move(indexes)),
      clock_(clock),
      gauge_(metrics.gauge("footnote_index_lag_seconds", "How long an index has been behind the store, seen by scrapes")) {}

bool IndexLag::is_behind(const CallContext& call, const Corpus& corpus) const {
  return std::ranges::any_of(indexes_, [&](const IndexWriter* index) {
    const auto generation = index->generation(call, corpus.id);
    return generation && *generation < corpus.generation;
  });
}

void IndexLag::refresh(const CallContext& call, std::span<const Corpus> corpora) {
  const UtcTime now = clock_.now();
  std::chrono::seconds lag{0};
  const MutexLock lock(mutex_);
  std::map<CorpusId, UtcTime> behind;
  for (const Corpus& corpus : corpora) {
    if (!is_behind(call, corpus)) continue;
    const auto known = behind_since_.find(corpus.id);
    const UtcTime since = known == behind_since_.end() ? now : known->second;
    behind.emplace(corpus.id, since);
    // At least one second: 0 means up to date.
    lag = std::max({lag, std::chrono::seconds{1}, std::chrono::ceil<std::chrono::seconds>(now - since)});
  }
  behind_since_ = std::move(behind);
  gauge_.set(lag.count());
}

}  // namespace footnote::ingest
