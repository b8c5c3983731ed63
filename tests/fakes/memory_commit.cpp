#include <algorithm>
#include <cmath>
#include <set>
#include <thread>

#include "base/json.h"
#include "fakes/memory_store.h"

namespace footnote::fakes {

namespace {

Result<void> check_chunks(const DocumentDraft& draft, const EmbeddingSpace& space) {
  for (const ChunkDraft& chunk : draft.chunks) {
    if (chunk.vectors.empty() && !chunk.point) return fail(ErrorCode::kInvalidArgument, "'{}' has a chunk without vectors", draft.key);
    if (!is_whole(chunk.codes)) return fail(ErrorCode::kInvalidArgument, "'{}' has a chunk whose codes are cut short", draft.key);
    for (const std::vector<float>& vector : chunk.vectors) {
      if (static_cast<int>(vector.size()) != space.dimension) {
        return fail(ErrorCode::kFailedPrecondition, "embedding dim {} != corpus dim {}", vector.size(), space.dimension);
      }
      if (!std::ranges::all_of(vector, [](float value) { return std::isfinite(value); })) {
        return fail(ErrorCode::kInvalidArgument, "'{}' has a vector that is not finite", draft.key);
      }
    }
  }
  return {};
}

Result<void> check_points(const DocumentDraft& draft, const Corpus& corpus) {
  for (const ChunkDraft& chunk : draft.chunks) {
    if (!chunk.point) continue;
    const auto payload = parse_json(chunk.point->payload);
    if (!payload || !payload->is_object()) return fail(ErrorCode::kInvalidArgument, "'{}' has no object as payload", draft.key);
    for (const auto& [name, vector] : chunk.point->named_vectors) {
      const auto space = std::ranges::find(corpus.named_spaces, name, &NamedSpace::name);
      if (space == corpus.named_spaces.end() || vector.size() != static_cast<std::size_t>(space->dimension)) {
        return fail(ErrorCode::kFailedPrecondition, "no space '{}' of {} numbers", name, vector.size());
      }
    }
  }
  return {};
}

}  // namespace

Result<void> MemoryStore::check_drafts(const StoredCorpus& corpus, std::span<const DocumentDraft> drafts,
                                       std::span<const std::string> deleted_keys) const {
  std::set<std::string> keys;
  for (const DocumentDraft& draft : drafts) {
    if (draft.key.empty()) return fail(ErrorCode::kInvalidArgument, "a document needs a key");
    if (!keys.insert(draft.key).second) return fail(ErrorCode::kInvalidArgument, "'{}' is named twice", draft.key);
    const auto source = std::ranges::find(sources_, draft.source, &Source::id);
    if (draft.source && (source == sources_.end() || source->corpus != corpus.corpus.id)) {
      return fail(ErrorCode::kNotFound, "no such source");
    }
    FOOTNOTE_CHECK(check_chunks(draft, corpus.corpus.space));
    FOOTNOTE_CHECK(check_points(draft, corpus.corpus));
  }
  for (const std::string& key : deleted_keys) {
    if (!keys.insert(key).second) return fail(ErrorCode::kInvalidArgument, "'{}' is named twice", key);
  }
  return {};
}

void MemoryStore::kill(StoredCorpus& corpus, std::string_view key, Generation generation) {
  StoredVersion* version = corpus.live(key);
  if (version == nullptr) return;
  version->died = generation;
  version->died_at = clock_.now();
  for (ChunkId chunk : version->chunks) {
    corpus.chunks.at(chunk).chunk.died = generation;
    corpus.steps[generation].died.push_back(chunk);
  }
}

void MemoryStore::keep_version(StoredCorpus& corpus, const Document& document) {
  for (StoredVersion& version : corpus.versions[document.id]) {
    version.kept = version.document.version > document.version - kVersionsKeptMax && version.document.version <= document.version;
  }
}

void MemoryStore::add_version(StoredCorpus& corpus, const DocumentDraft& draft, Generation generation) {
  DocumentId& id = corpus.ids[draft.key];
  if (!id) id = {next_id()};
  std::vector<StoredVersion>& versions = corpus.versions[id];
  StoredVersion made;
  made.document = {id,
                   corpus.corpus.id,
                   draft.source,
                   draft.key,
                   ++corpus.last_version[id],
                   draft.content_hash,
                   draft.attributes,
                   draft.chunks.size(),
                   clock_.now()};
  made.text = draft.text;
  made.original = draft.original;
  made.edges = draft.edges;
  for (const ChunkDraft& chunk : draft.chunks) {
    StoredChunk stored;
    stored.chunk = {{next_id()},
                    id,
                    made.document.version,
                    static_cast<int>(made.chunks.size()),
                    chunk.text,
                    chunk.heading_path,
                    chunk.symbol,
                    chunk.source_type,
                    chunk.content_hash,
                    chunk.range,
                    chunk.first_line,
                    chunk.last_line,
                    chunk.places,
                    generation,
                    std::nullopt};
    stored.document_key = draft.key;
    stored.attributes = draft.attributes;
    stored.vectors = chunk.vectors;
    stored.codes = chunk.codes;
    stored.point = chunk.point;
    stored.indexed_at = made.document.indexed_at;
    made.chunks.push_back(stored.chunk.id);
    corpus.steps[generation].born.push_back(stored.chunk.id);
    corpus.chunks.emplace(stored.chunk.id, std::move(stored));
  }
  versions.push_back(std::move(made));
}

Result<CommitReceipt> MemoryStore::commit(const CallContext& call, CorpusId corpus, std::span<const DocumentDraft> drafts,
                                          std::span<const std::string> deleted_keys) {
  FOOTNOTE_CHECK(call.check());
  FOOTNOTE_CHECK(commit_faults_.next());
  // A real commit waits for the disk. Without a pause, a writer in a loop would starve readers.
  std::this_thread::sleep_for(std::chrono::microseconds{100});
  MutexLock lock(mutex_);
  FOOTNOTE_TRY(StoredCorpus * into, stored(corpus));
  FOOTNOTE_CHECK(check_drafts(*into, drafts, deleted_keys));
  const Generation next = into->corpus.generation + 1;
  CommitReceipt receipt{.generation = into->corpus.generation, .documents = {}, .deleted = 0};
  for (const std::string& key : deleted_keys) {
    if (into->live(key) == nullptr) continue;
    for (StoredVersion& version : into->versions[into->live(key)->document.id]) version.kept = false;
    kill(*into, key, next);
    ++receipt.deleted;
    receipt.generation = next;
  }
  for (const DocumentDraft& draft : drafts) {
    const StoredVersion* live = into->live(draft.key);
    if (live == nullptr || live->document.content_hash != draft.content_hash || live->document.attributes != draft.attributes) {
      const bool is_point = !draft.chunks.empty() && draft.chunks.front().point;
      if (live != nullptr && !is_point) keep_version(*into, live->document);
      kill(*into, draft.key, next);
      add_version(*into, draft, next);
      receipt.generation = next;
    }
    receipt.documents.push_back(into->live(draft.key)->document);
  }
  into->corpus.generation = receipt.generation;
  if (receipt.generation == next) into->steps.try_emplace(next);  // a document without chunks also makes a step
  return receipt;
}

}  // namespace footnote::fakes
