#pragma once

#include "base/metrics.h"
#include "ingest/index_sync.h"
#include "ports/live_rows.h"
#include "upkeep/index_files.h"

namespace footnote::upkeep {

/// How an index's rows differ from the store's. Reports no difference if they are at different generations, because then it is unknown.
/// Equal sets are recognised by a count and a sum; only others are compared row by row.
Result<RowDifferences> compare_with_store(const CallContext& call, const SqliteChunkStore& store, const SavedIndex& index, CorpusId corpus);

/// "2 missing, 1 extra, 0 stale".
std::string describe(const RowDifferences& differences);

/// Compares the up-to-date indexes of a corpus with the store. An index that differs is logged, counted in
/// footnote_index_mended_rows_total{difference}, dropped with its file and rebuilt.
class Reconciler {
 public:
  /// Borrows all of them.
  Reconciler(const SqliteChunkStore& store, std::vector<SavedIndex*> indexes, ingest::IndexSync& sync, IndexFiles& files, Metrics& metrics);

  Result<void> reconcile(const CallContext& call, const Corpus& corpus);

 private:
  const SqliteChunkStore& store_;
  const std::vector<SavedIndex*> indexes_;
  ingest::IndexSync& sync_;
  IndexFiles& files_;
  Counter& missing_;
  Counter& extra_;
  Counter& stale_;
};

}  // namespace footnote::upkeep
