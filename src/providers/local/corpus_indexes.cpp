#include "providers/local/corpus_indexes.h"

#include <unordered_set>

#include "providers/local/facet_stream.h"

namespace footnote {

Result<void> check_changes(const IndexChanges& changes, Generation generation, const std::function<bool(std::int64_t)>& holds) {
  if (changes.from != generation) {
    return fail(ErrorCode::kFailedPrecondition, "the index is at generation {}, but the changes start at {}; drop it and apply from 0",
                generation, changes.from);
  }
  if (changes.to < changes.from) {
    return fail(ErrorCode::kInvalidArgument, "changes from generation {} can't end at {}", changes.from, changes.to);
  }
  const auto inside = [&](Generation at) { return at > changes.from && at <= changes.to; };
  std::unordered_set<ChunkId> removed;
  for (const IndexRemoval& removal : changes.removed) {
    if (!inside(removal.died)) {
      return fail(ErrorCode::kInvalidArgument, "chunk {} died in generation {}, outside ({}, {}]", removal.chunk.value, removal.died,
                  changes.from, changes.to);
    }
    removed.insert(removal.chunk);
  }
  std::unordered_set<ChunkId> added;
  for (const IndexRow& row : changes.added) {
    if (!inside(row.born)) {
      return fail(ErrorCode::kInvalidArgument, "chunk {} was born in generation {}, outside ({}, {}]", row.chunk.value, row.born,
                  changes.from, changes.to);
    }
    if (!added.insert(row.chunk).second || (!removed.contains(row.chunk) && holds(row.chunk.value))) {
      return fail(ErrorCode::kInvalidArgument, "chunk {} is added twice", row.chunk.value);
    }
  }
  return {};
}

Result<void> check_generation(CorpusId corpus, Generation asked, Generation oldest, Generation newest) {
  if (asked > newest) {
    return fail(ErrorCode::kFailedPrecondition, "corpus {}: the index is at generation {}, before {}; update it first", corpus.value,
                newest, asked);
  }
  if (asked < oldest) {
    return fail(ErrorCode::kFailedPrecondition, "corpus {}: generation {} was dropped, the oldest is {}; use a newer one", corpus.value,
                asked, oldest);
  }
  return {};
}

std::vector<rows::Death> deaths_of(const IndexChanges& changes) {
  std::vector<rows::Death> out;
  out.reserve(changes.removed.size());
  for (const IndexRemoval& removal : changes.removed) out.push_back({removal.chunk.value, removal.died});
  return out;
}

Result<void> write_documents(ByteSink& sink, const DocumentTable& documents, const rows::GroupMask& used) {
  FOOTNOTE_CHECK(sink.put(static_cast<std::uint32_t>(documents.slot_count())));
  for (std::size_t slot = 0; slot < documents.slot_count(); ++slot) {
    const DocumentFacets* facets = used[slot] != 0 ? documents.facets(slot) : nullptr;
    FOOTNOTE_CHECK(sink.put(static_cast<std::uint8_t>(facets != nullptr ? 1 : 0)));
    if (facets != nullptr) FOOTNOTE_CHECK(write_facets(sink, *facets));
  }
  return {};
}

Result<DocumentTableWriter> read_documents(ByteSource& source) {
  DocumentTableWriter documents;
  FOOTNOTE_TRY(const auto slots, source.take<std::uint32_t>());
  FOOTNOTE_CHECK(source.fits<std::uint8_t>(slots));
  for (std::uint32_t slot = 0; slot < slots; ++slot) {
    FOOTNOTE_TRY(const auto filled, source.take<std::uint8_t>());
    if (filled == 0) {
      documents.append(std::nullopt);
      continue;
    }
    FOOTNOTE_TRY(auto facets, read_facets(source));
    documents.append(std::move(facets));
  }
  return documents;
}

}  // namespace footnote
