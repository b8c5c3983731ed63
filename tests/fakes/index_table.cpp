#include "fakes/index_table.h"

#include <algorithm>

namespace footnote::fakes {

Generation IndexTable::generation(CorpusId corpus) const {
  const auto found = corpora_.find(corpus);
  return found == corpora_.end() ? 0 : found->second.generation;
}

Result<void> IndexTable::apply(CorpusId corpus, const IndexChanges& changes) {
  if (changes.from != generation(corpus)) {
    return fail(ErrorCode::kFailedPrecondition, "the index is at generation {}, the changes start at {}", generation(corpus), changes.from);
  }
  Corpus& state = corpora_[corpus];
  for (const IndexRow& row : changes.added) state.rows.insert_or_assign(row.chunk, Row{row, std::nullopt});
  for (const IndexRemoval& removal : changes.removed) {
    if (const auto row = state.rows.find(removal.chunk); row != state.rows.end()) row->second.died = removal.died;
  }
  state.generation = changes.to;
  return {};
}

void IndexTable::forget(CorpusId corpus, Generation died_until) {
  const auto found = corpora_.find(corpus);
  if (found == corpora_.end()) return;
  std::erase_if(found->second.rows, [&](const auto& entry) { return entry.second.died && *entry.second.died <= died_until; });
  found->second.oldest = std::max(found->second.oldest, std::min(died_until, found->second.generation));
}

void IndexTable::drop(CorpusId corpus) { corpora_.erase(corpus); }

Result<std::vector<const IndexTable::Row*>> IndexTable::visible(CorpusId corpus, Generation generation, const Filter* filter) const {
  std::vector<const Row*> out;
  const auto found = corpora_.find(corpus);
  const Generation newest = found == corpora_.end() ? 0 : found->second.generation;
  const Generation oldest = found == corpora_.end() ? 0 : found->second.oldest;
  if (generation > newest || generation < oldest) {
    return fail(ErrorCode::kFailedPrecondition, "the index holds generations {} to {}, not {}", oldest, newest, generation);
  }
  if (found == corpora_.end()) return out;
  for (const auto& [chunk, row] : found->second.rows) {
    if (row.row.born > generation || (row.died && *row.died <= generation)) continue;
    static const Filter kEmpty;
    const Filter& asked = filter == nullptr ? kEmpty : *filter;
    if (!names_chunk(asked, row.row.chunk) || !matches(asked, row.row.subject())) continue;
    out.push_back(&row);
  }
  return out;
}

void keep_best(std::vector<ScoredChunk>& found, std::size_t limit) {
  std::ranges::sort(found,
                    [](const ScoredChunk& a, const ScoredChunk& b) { return a.score != b.score ? a.score > b.score : a.chunk < b.chunk; });
  found.resize(std::min(found.size(), limit));
}

}  // namespace footnote::fakes
