#include "upkeep/reconcile.h"

#include "base/log.h"

namespace footnote::upkeep {

Result<RowDifferences> compare_with_store(const CallContext& call, const SqliteChunkStore& store, const SavedIndex& index,
                                          CorpusId corpus) {
  FOOTNOTE_TRY(const LiveDigest expected, store.live_digest(call, corpus));
  if (index.extent(corpus).generation != expected.generation) return RowDifferences{};
  const std::vector<LiveRow> held = index.live_rows(corpus);
  LiveDigest found{.generation = expected.generation};
  for (const LiveRow& row : held) found.add(row);
  if (found == expected) return RowDifferences{};
  FOOTNOTE_TRY(const auto rows, store.live_rows(call, corpus));
  return compare_rows(rows, held);
}

std::string describe(const RowDifferences& differences) {
  return fmt::format("{} missing, {} extra, {} stale", differences.missing, differences.extra, differences.stale);
}

Reconciler::Reconciler(const SqliteChunkStore& store, std::vector<SavedIndex*> indexes, ingest::IndexSync& sync, IndexFiles& files,
                       Metrics& metrics)
    : store_(store),
      indexes_(std::move(indexes)),
      sync_(sync),
      files_(files),
      missing_(metrics.counter("footnote_index_mended_rows_total", "Rows by which an index differed from the store at start",
                               {{"difference", "missing"}})),
      extra_(metrics.counter("footnote_index_mended_rows_total", "Rows by which an index differed from the store at start",
                             {{"difference", "extra"}})),
      stale_(metrics.counter("footnote_index_mended_rows_total", "Rows by which an index differed from the store at start",
                             {{"difference", "stale"}})) {}

Result<void> Reconciler::reconcile(const CallContext& call, const Corpus& corpus) {
  bool dropped = false;
  for (SavedIndex* index : indexes_) {
    FOOTNOTE_TRY(const RowDifferences differences, compare_with_store(call, store_, *index, corpus.id));
    if (differences.total() == 0) continue;
    log(LogLevel::kWarn, "app", "an index differs from the store; rebuilding it",
        {{"corpus", corpus.name},
         {"index", static_cast<std::int64_t>(index->kind())},
         {"missing", differences.missing},
         {"extra", differences.extra},
         {"stale", differences.stale}});
    missing_.add(differences.missing);
    extra_.add(differences.extra);
    stale_.add(differences.stale);
    files_.remove(corpus.id, index->kind());
    FOOTNOTE_CHECK(index->drop(call, corpus.id));
    dropped = true;
  }
  if (dropped) FOOTNOTE_CHECK(sync_.sync(call, corpus.id));
  return {};
}

}  // namespace footnote::upkeep
