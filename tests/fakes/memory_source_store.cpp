#include "fakes/memory_source_store.h"

#include <algorithm>

namespace footnote::fakes {

/// Those of the catalog, with what is known of them beside.
std::vector<SourceRecord> MemorySourceStore::all() const {
  std::vector<SourceRecord> out;
  for (const Source& source : store_.all_sources()) {
    const auto corpus = store_.corpus({}, source.corpus);
    if (!corpus) continue;
    SourceRecord record{.id = source.id, .workspace = corpus->workspace, .spec = {}};
    record.spec = {.corpus = source.corpus, .kind = source.kind, .location = source.location};
    record.synced_at = source.synced_at;
    MutexLock lock(mutex_);
    if (const auto found = described_.find(source.id); found != described_.end()) {
      record.spec = found->second.spec;
      record.created_at = found->second.created_at;
      record.next_at = found->second.next_at;
      record.error = found->second.error;
    }
    out.push_back(std::move(record));
  }
  std::ranges::sort(out, {}, &SourceRecord::id);
  return out;
}

Result<SourceStore::Put> MemorySourceStore::put(const CallContext& call, const SourceSpec& spec) {
  FOOTNOTE_CHECK(call.check());
  FOOTNOTE_CHECK(check_source_spec(spec));
  FOOTNOTE_TRY(const Corpus corpus, store_.corpus(call, spec.corpus));
  const auto before = all();
  const auto known = std::ranges::find_if(before, [&](const SourceRecord& other) {
    return other.spec.corpus == spec.corpus && other.spec.kind == spec.kind && other.spec.location == spec.location;
  });
  const bool created = known == before.end();
  const auto room = std::ranges::count(before, corpus.workspace, &SourceRecord::workspace);
  if (created && room >= static_cast<std::ptrdiff_t>(kSourcesMax)) return fail(ErrorCode::kResourceExhausted, "too many sources");
  FOOTNOTE_TRY(const Source source, store_.ensure_source(call, spec.corpus, spec.kind, spec.location));
  {
    MutexLock lock(mutex_);
    SourceRecord& record = described_[source.id];
    const bool same_schedule = !created && record.spec.interval == spec.interval;
    if (created) record.created_at = clock_.now();
    record.spec = spec;
    if (!same_schedule) record.next_at.reset();
    if (!same_schedule && spec.interval.count() > 0) record.next_at = clock_.now() + spec.interval;
  }
  FOOTNOTE_TRY(SourceRecord record, this->source(call, corpus.workspace, source.id));
  return Put{std::move(record), created};
}

Result<SourceRecord> MemorySourceStore::source(const CallContext&, WorkspaceId workspace, SourceId id) const {
  for (SourceRecord& record : all()) {
    if (record.id == id && record.workspace == workspace) return std::move(record);
  }
  return fail(ErrorCode::kNotFound, "no source {}", id.value);
}

Result<std::vector<SourceRecord>> MemorySourceStore::sources(const CallContext&, WorkspaceId workspace) const {
  std::vector<SourceRecord> out = all();
  std::erase_if(out, [&](const SourceRecord& record) { return record.workspace != workspace; });
  return out;
}

Result<std::vector<SourceRecord>> MemorySourceStore::due(const CallContext&, UtcTime now, std::size_t limit) const {
  std::vector<SourceRecord> out = all();
  std::erase_if(out, [&](const SourceRecord& record) { return !record.next_at || *record.next_at > now; });
  std::ranges::stable_sort(out, {}, [](const SourceRecord& record) { return *record.next_at; });
  if (out.size() > limit) out.erase(out.begin() + static_cast<std::ptrdiff_t>(limit), out.end());
  return out;
}

Result<std::vector<SourceRecord>> MemorySourceStore::watched(const CallContext&) const {
  std::vector<SourceRecord> out = all();
  std::erase_if(out, [](const SourceRecord& record) { return !record.spec.watch; });
  return out;
}

Result<std::vector<Document>> MemorySourceStore::documents_of(const CallContext& call, const SourceRecord& record) const {
  FOOTNOTE_TRY(auto out, store_.documents(call, record.spec.corpus, "", 1'000'000));
  std::erase_if(out, [&](const Document& document) { return document.source != record.id; });
  return out;
}

Result<SourceCounts> MemorySourceStore::counts(const CallContext& call, SourceId id) const {
  SourceCounts out;
  for (const SourceRecord& record : all()) {
    if (record.id != id) continue;
    FOOTNOTE_TRY(const auto documents, documents_of(call, record));
    out.documents = static_cast<std::int64_t>(documents.size());
    for (const Document& document : documents) out.chunks += static_cast<std::int64_t>(document.chunk_count);
  }
  return out;
}

Result<void> MemorySourceStore::note_sync(const CallContext& call, SourceId id, UtcTime at, std::string_view error) {
  if (error.empty() && !store_.mark_synced(call, id, at)) return {};
  MutexLock lock(mutex_);
  const auto found = described_.find(id);
  if (found == described_.end()) return {};
  found->second.error = error;
  if (found->second.spec.interval.count() > 0) found->second.next_at = at + found->second.spec.interval;
  return {};
}

Result<void> MemorySourceStore::postpone(const CallContext&, SourceId id, UtcTime next_at) {
  MutexLock lock(mutex_);
  const auto found = described_.find(id);
  if (found != described_.end() && found->second.spec.interval.count() > 0) found->second.next_at = next_at;
  return {};
}

Result<std::vector<SourceFailure>> MemorySourceStore::failures(const CallContext&, SourceId id) const {
  MutexLock lock(mutex_);
  const auto found = failures_.find(id);
  return found == failures_.end() ? std::vector<SourceFailure>{} : found->second;
}

Result<void> MemorySourceStore::set_failures(const CallContext&, SourceId id, std::span<const SourceFailure> failures) {
  const auto known = all();
  if (std::ranges::find(known, id, &SourceRecord::id) == known.end()) return {};
  MutexLock lock(mutex_);
  const auto kept = failures.first(std::min(failures.size(), kSourceFailuresMax));
  failures_[id].assign(kept.begin(), kept.end());
  std::ranges::sort(failures_[id], {}, &SourceFailure::key);
  return {};
}

Result<std::size_t> MemorySourceStore::erase(const CallContext& call, WorkspaceId workspace, SourceId id) {
  FOOTNOTE_TRY(const SourceRecord record, source(call, workspace, id));
  FOOTNOTE_TRY(const auto documents, documents_of(call, record));
  std::vector<std::string> keys;
  for (const Document& document : documents) keys.push_back(document.key);
  FOOTNOTE_CHECK(store_.commit(call, record.spec.corpus, {}, keys));
  store_.forget_source(id);
  if (jobs_ != nullptr) jobs_->cancel_jobs_of(id);
  MutexLock lock(mutex_);
  described_.erase(id);
  failures_.erase(id);
  return keys.size();
}

}  // namespace footnote::fakes
