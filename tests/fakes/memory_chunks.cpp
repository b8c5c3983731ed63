#include <algorithm>
#include <utility>

#include "fakes/memory_store.h"

namespace footnote::fakes {

const MemoryStore::StoredVersion* MemoryStore::StoredCorpus::live(std::string_view key) const {
  const auto id = ids.find(key);
  if (id == ids.end()) return nullptr;
  const auto found = versions.find(id->second);
  if (found == versions.end() || found->second.empty() || found->second.back().died) return nullptr;
  return &found->second.back();
}

MemoryStore::StoredVersion* MemoryStore::StoredCorpus::live(std::string_view key) {
  return const_cast<StoredVersion*>(std::as_const(*this).live(key));
}

Result<std::vector<Document>> MemoryStore::documents(const CallContext&, CorpusId corpus, std::string_view after_key,
                                                     std::size_t limit) const {
  MutexLock lock(mutex_);
  FOOTNOTE_TRY(const StoredCorpus* from, stored(corpus));
  std::vector<Document> out;
  for (auto id = from->ids.upper_bound(after_key); id != from->ids.end() && out.size() < limit; ++id) {
    if (const StoredVersion* version = from->live(id->first)) out.push_back(version->document);
  }
  return out;
}

Result<CorpusCounts> MemoryStore::counts(const CallContext&, CorpusId corpus) const {
  MutexLock lock(mutex_);
  FOOTNOTE_TRY(const StoredCorpus* from, stored(corpus));
  CorpusCounts out;
  for (const auto& [key, id] : from->ids) {
    const StoredVersion* version = from->live(key);
    if (version == nullptr) continue;
    ++out.documents;
    out.chunks += static_cast<std::int64_t>(version->chunks.size());
    if (version->document.attributes.acl_labels.empty()) continue;
    ++out.labelled_documents;
    out.labelled_chunks += static_cast<std::int64_t>(version->chunks.size());
  }
  return out;
}

Result<std::optional<Document>> MemoryStore::find_document(const CallContext&, CorpusId corpus, std::string_view key) const {
  MutexLock lock(mutex_);
  FOOTNOTE_TRY(const StoredCorpus* from, stored(corpus));
  const StoredVersion* version = from->live(key);
  return version == nullptr ? std::nullopt : std::optional<Document>(version->document);
}

Result<DocumentText> MemoryStore::document_text(const CallContext&, WorkspaceId workspace, DocumentId document, int version) const {
  MutexLock lock(mutex_);
  for (const auto& [id, corpus] : corpora_) {
    const auto found = corpus.versions.find(document);
    if (corpus.corpus.workspace != workspace || found == corpus.versions.end()) continue;
    const auto live = std::ranges::find_if(found->second, [](const StoredVersion& stored) { return !stored.died; });
    if (live == found->second.end()) continue;
    for (const StoredVersion& stored : found->second) {
      if (version == 0 ? stored.died.has_value() : stored.document.version != version) continue;
      const bool labelled = !live->document.attributes.acl_labels.empty() || !stored.document.attributes.acl_labels.empty();
      return DocumentText{stored.document, stored.text, labelled};
    }
  }
  return fail(ErrorCode::kNotFound, "no such document");
}

Result<std::vector<DocumentVersion>> MemoryStore::versions(const CallContext&, WorkspaceId workspace, DocumentId document) const {
  MutexLock lock(mutex_);
  std::vector<DocumentVersion> out;
  for (const auto& [id, corpus] : corpora_) {
    const auto found = corpus.versions.find(document);
    if (corpus.corpus.workspace != workspace || found == corpus.versions.end()) continue;
    const auto live = std::ranges::find_if(found->second, [](const StoredVersion& stored) { return !stored.died; });
    if (live == found->second.end()) continue;
    for (const StoredVersion& stored : found->second) {
      if (stored.died && !stored.kept) continue;
      out.push_back({stored.document, stored.died ? std::optional(stored.died_at) : std::nullopt, stored.original.has_value()});
    }
  }
  if (out.empty()) return fail(ErrorCode::kNotFound, "no such document");
  std::ranges::sort(out, std::greater{}, [](const DocumentVersion& version) { return version.document.version; });
  return out;
}

Result<DocumentOriginal> MemoryStore::original(const CallContext& call, WorkspaceId workspace, DocumentId document, int version) const {
  FOOTNOTE_TRY(const DocumentText known, document_text(call, workspace, document, version));
  MutexLock lock(mutex_);
  for (const StoredVersion& stored : corpora_.at(known.document.corpus).versions.at(document)) {
    if (stored.document.version != known.document.version || !stored.original) continue;
    return DocumentOriginal{stored.document, stored.original->bytes, known.labelled};
  }
  return fail(ErrorCode::kFailedPrecondition, "its original was not kept");
}

Result<std::vector<ChunkReader::ChunkRecord>> MemoryStore::chunks(const CallContext&, CorpusId corpus, std::span<const ChunkId> ids) const {
  MutexLock lock(mutex_);
  FOOTNOTE_TRY(const StoredCorpus* from, stored(corpus));
  std::vector<ChunkRecord> out;
  for (ChunkId id : ids) {
    const auto found = from->chunks.find(id);
    if (found != from->chunks.end()) out.push_back({found->second.chunk, found->second.document_key, found->second.attributes});
  }
  return out;
}

Generation MemoryStore::StoredCorpus::end_of_page(Generation after, std::size_t rows_max) const {
  std::size_t total = 0;
  Generation to = after;
  for (auto step = steps.upper_bound(after); step != steps.end(); ++step) {
    const std::size_t rows = step->second.born.size() + step->second.died.size();
    // A page must not end where the next one could not continue.
    if (to > after && total + rows > rows_max && to >= lost_until) break;
    total += rows;
    to = step->first;
  }
  return to;
}

Result<IndexChanges> MemoryStore::changes(const CallContext&, CorpusId corpus, Generation after, std::size_t rows_max) const {
  MutexLock lock(mutex_);
  FOOTNOTE_TRY(const StoredCorpus* from, stored(corpus));
  if (after != 0 && after < from->lost_until) {
    return fail(ErrorCode::kFailedPrecondition, "what died after generation {} was purged; read from 0", after);
  }
  IndexChanges out{.from = after, .to = from->end_of_page(after, rows_max), .added = {}, .removed = {}};
  out.distance = from->corpus.space.distance;
  out.named_spaces = from->corpus.named_spaces;
  for (auto step = from->steps.upper_bound(after); step != from->steps.end() && step->first <= out.to; ++step) {
    for (ChunkId id : step->second.born) {
      const auto found = from->chunks.find(id);
      if (found == from->chunks.end()) continue;  // already purged
      const StoredChunk& stored = found->second;
      const Chunk& chunk = stored.chunk;
      IndexRow& row = out.added.emplace_back(IndexRow{id,
                                                      chunk.document,
                                                      chunk.born,
                                                      stored.document_key,
                                                      stored.attributes,
                                                      chunk.heading_path,
                                                      chunk.symbol,
                                                      chunk.text,
                                                      stored.vectors,
                                                      {},
                                                      chunk.source_type,
                                                      stored.indexed_at});
      if (!stored.point) continue;
      for (const auto& [name, vector] : stored.point->named_vectors) row.named_vectors[name] = {vector};
    }
    for (ChunkId id : step->second.died) out.removed.push_back({id, step->first});
  }
  return out;
}

Result<std::map<std::string, ChunkEmbedding>> MemoryStore::embeddings_by_hash(const CallContext&, CorpusId corpus,
                                                                              std::span<const std::string> hashes) const {
  MutexLock lock(mutex_);
  FOOTNOTE_TRY(const StoredCorpus* from, stored(corpus));
  std::map<std::string, ChunkEmbedding> out;
  for (const auto& [id, stored] : from->chunks) {
    const std::string& hash = stored.chunk.content_hash;
    if (std::ranges::find(hashes, hash) != hashes.end()) out[hash] = {stored.vectors, stored.codes};
  }
  return out;
}

Result<std::vector<ChunkId>> MemoryStore::chunk_ids(const CallContext&, CorpusId corpus, Generation after, Generation until) const {
  MutexLock lock(mutex_);
  FOOTNOTE_TRY(const StoredCorpus* from, stored(corpus));
  std::vector<ChunkId> out;
  for (const auto& [id, stored] : from->chunks) {
    if (stored.chunk.born > after && stored.chunk.born <= until) out.push_back(id);
  }
  return out;
}

Result<std::vector<PassageCodes>> MemoryStore::passage_codes(const CallContext&, CorpusId corpus, std::span<const ChunkId> ids) const {
  MutexLock lock(mutex_);
  FOOTNOTE_TRY(const StoredCorpus* from, stored(corpus));
  std::vector<PassageCodes> out;
  for (const ChunkId id : ids) {
    const auto found = from->chunks.find(id);
    out.push_back(found == from->chunks.end() ? PassageCodes{} : found->second.codes);
  }
  return out;
}

Result<Generation> MemoryStore::purge(const CallContext& call, CorpusId corpus, UtcTime before) {
  FOOTNOTE_CHECK(call.check());
  MutexLock lock(mutex_);
  FOOTNOTE_TRY(StoredCorpus * from, stored(corpus));
  Generation newest = 0;
  for (auto& [id, versions] : from->versions) {
    std::erase_if(versions, [&](StoredVersion& version) {
      if (!version.died || version.died_at >= before) return false;
      if (!version.kept || !version.chunks.empty()) newest = std::max(newest, *version.died);
      for (ChunkId chunk : version.chunks) from->chunks.erase(chunk);
      version.chunks.clear();
      return !version.kept;
    });
  }
  return newest;
}

void MemoryStore::lose_purged_deaths(CorpusId corpus) {
  MutexLock lock(mutex_);
  StoredCorpus& from = corpora_.at(corpus);
  for (auto& [generation, step] : from.steps) {
    const auto lost = std::erase_if(step.died, [&](ChunkId id) { return !from.chunks.contains(id); });
    if (lost > 0) from.lost_until = generation;
  }
}

Result<std::vector<Edge>> MemoryStore::live_edges(CorpusId corpus) const {
  MutexLock lock(mutex_);
  FOOTNOTE_TRY(const StoredCorpus* found, stored(corpus));
  std::vector<Edge> out;
  for (const auto& [key, id] : found->ids) {
    const StoredVersion* version = found->live(key);
    if (version != nullptr) out.insert(out.end(), version->edges.begin(), version->edges.end());
  }
  return out;
}

}  // namespace footnote::fakes
