#include <algorithm>

#include "base/text.h"
#include "fakes/memory_store.h"

namespace footnote::fakes {

MemoryStore::MemoryStore(const Clock& clock) : clock_(clock) {
  workspaces_.push_back({{next_id()}, std::string(kDefaultWorkspace), clock_.now()});
}

Result<Workspace> MemoryStore::find_workspace(const CallContext&, std::string_view name) const {
  MutexLock lock(mutex_);
  const auto found = std::ranges::find(workspaces_, name, &Workspace::name);
  if (found == workspaces_.end()) return fail(ErrorCode::kNotFound, "no workspace named '{}'", name);
  return *found;
}

Result<std::vector<Workspace>> MemoryStore::workspaces(const CallContext&) const {
  MutexLock lock(mutex_);
  std::vector<Workspace> out = workspaces_;
  std::ranges::sort(out, {}, &Workspace::name);
  return out;
}

Result<Workspace> MemoryStore::add_workspace(const CallContext&, std::string_view name) {
  if (trim(name).empty()) return fail_field(ErrorCode::kInvalidArgument, "name", "a workspace needs a name");
  MutexLock lock(mutex_);
  if (std::ranges::find(workspaces_, name, &Workspace::name) != workspaces_.end()) {
    return fail(ErrorCode::kAlreadyExists, "a workspace '{}' already exists", name);
  }
  workspaces_.push_back({{next_id()}, std::string(name), clock_.now()});
  return workspaces_.back();
}

Result<std::vector<Corpus>> MemoryStore::corpora(const CallContext&, WorkspaceId workspace) const {
  MutexLock lock(mutex_);
  std::vector<Corpus> out;
  for (const auto& [id, corpus] : corpora_) {
    if (corpus.corpus.workspace == workspace) out.push_back(corpus.corpus);
  }
  std::ranges::sort(out, {}, &Corpus::name);
  return out;
}

Result<Corpus> MemoryStore::find_corpus(const CallContext& call, WorkspaceId workspace, std::string_view name) const {
  FOOTNOTE_TRY(const auto all, corpora(call, workspace));
  const auto found = std::ranges::find(all, name, &Corpus::name);
  if (found != all.end()) return *found;
  std::vector<std::string> names;
  for (const Corpus& corpus : all) names.push_back(corpus.name);
  return fail(ErrorCode::kNotFound, "no corpus named '{}'; there are: {}", name, join(names, ", "));
}

Result<Corpus> MemoryStore::corpus(const CallContext&, CorpusId id) const {
  MutexLock lock(mutex_);
  FOOTNOTE_TRY(const StoredCorpus* found, stored(id));
  return found->corpus;
}

Result<Corpus> MemoryStore::ensure_corpus(const CallContext& call, WorkspaceId workspace, std::string_view name,
                                          const EmbeddingSpace& space) {
  FOOTNOTE_CHECK(call.check());
  if (trim(name).empty()) return fail(ErrorCode::kInvalidArgument, "a corpus needs a name");
  MutexLock lock(mutex_);
  if (std::ranges::find(workspaces_, workspace, &Workspace::id) == workspaces_.end()) {
    return fail(ErrorCode::kNotFound, "no such workspace");
  }
  for (const auto& [id, stored] : corpora_) {
    const Corpus& corpus = stored.corpus;
    if (corpus.workspace != workspace || corpus.name != name) continue;
    if (corpus.space == space) return corpus;
    return fail(ErrorCode::kFailedPrecondition, "corpus '{}' holds vectors of {} ({} numbers); use that model", name, corpus.space.model_id,
                corpus.space.dimension);
  }
  StoredCorpus made;
  made.corpus = {{next_id()}, workspace, std::string(name), space, 0, clock_.now()};
  return corpora_.emplace(made.corpus.id, made).first->second.corpus;
}

Result<void> MemoryStore::set_gate(const CallContext& call, CorpusId corpus, const std::optional<GateCalibration>& gate) {
  FOOTNOTE_CHECK(call.check());
  MutexLock lock(mutex_);
  FOOTNOTE_TRY(StoredCorpus * found, stored(corpus));
  found->corpus.gate = gate;
  return {};
}

Result<Source> MemoryStore::ensure_source(const CallContext& call, CorpusId corpus, SourceKind kind, std::string_view location) {
  FOOTNOTE_CHECK(call.check());
  MutexLock lock(mutex_);
  FOOTNOTE_CHECK(stored(corpus));
  for (const Source& source : sources_) {
    if (source.corpus == corpus && source.kind == kind && source.location == location) return source;
  }
  sources_.push_back({{next_id()}, corpus, kind, std::string(location), std::nullopt});
  return sources_.back();
}

Result<void> MemoryStore::mark_synced(const CallContext& call, SourceId source, UtcTime at) {
  FOOTNOTE_CHECK(call.check());
  MutexLock lock(mutex_);
  const auto found = std::ranges::find(sources_, source, &Source::id);
  if (found == sources_.end()) return fail(ErrorCode::kNotFound, "no such source");
  found->synced_at = at;
  return {};
}

Result<ApiKey> MemoryStore::add_key(const CallContext& call, const ApiKey& key) {
  FOOTNOTE_CHECK(call.check());
  MutexLock lock(mutex_);
  if (std::ranges::find(keys_, key.secret_hash, &ApiKey::secret_hash) != keys_.end()) {
    return fail(ErrorCode::kAlreadyExists, "a key with that secret is there");
  }
  if (std::ranges::find(workspaces_, key.workspace, &Workspace::id) == workspaces_.end()) {
    return fail(ErrorCode::kNotFound, "no such workspace");
  }
  keys_.push_back(key);
  keys_.back().id = {next_id()};
  return keys_.back();
}

Result<std::vector<ApiKey>> MemoryStore::keys(const CallContext&) const {
  MutexLock lock(mutex_);
  return keys_;
}

Result<ApiKey> MemoryStore::end_key(const CallContext&, ApiKeyId id, UtcTime at) {
  MutexLock lock(mutex_);
  const auto found = std::ranges::find(keys_, id, &ApiKey::id);
  if (found == keys_.end()) return fail(ErrorCode::kNotFound, "no such key");
  found->expires_at = std::min(found->expires_at.value_or(at), at);
  return *found;
}

Result<ApiKey> MemoryStore::revoke_key(const CallContext&, ApiKeyId id, UtcTime at) {
  MutexLock lock(mutex_);
  const auto found = std::ranges::find(keys_, id, &ApiKey::id);
  if (found == keys_.end()) return fail(ErrorCode::kNotFound, "no such key");
  found->revoked_at = found->revoked_at.value_or(at);
  return *found;
}

Result<void> MemoryStore::note_key_usage(const CallContext&, std::span<const std::pair<ApiKeyId, KeyUsage>> usage) {
  MutexLock lock(mutex_);
  for (const auto& [id, used] : usage) {
    if (const auto found = std::ranges::find(keys_, id, &ApiKey::id); found != keys_.end()) found->usage = used;
  }
  return {};
}

Result<std::string> MemoryStore::key_pepper(const CallContext&) {
  return std::string("a pepper for tests that is as long as a real one would be 012345");
}

Result<void> MemoryStore::check_in_workspace(CorpusId corpus, WorkspaceId workspace) const {
  FOOTNOTE_TRY(const StoredCorpus* found, stored(corpus));
  if (found->corpus.workspace != workspace) return fail(ErrorCode::kNotFound, "no such corpus");
  return {};
}

Result<const MemoryStore::StoredCorpus*> MemoryStore::stored(CorpusId corpus) const {
  const auto found = corpora_.find(corpus);
  if (found == corpora_.end()) return fail(ErrorCode::kNotFound, "no such corpus");
  return &found->second;
}

Result<MemoryStore::StoredCorpus*> MemoryStore::stored(CorpusId corpus) {
  const auto found = corpora_.find(corpus);
  if (found == corpora_.end()) return fail(ErrorCode::kNotFound, "no such corpus");
  return &found->second;
}

std::vector<Source> MemoryStore::all_sources() const {
  MutexLock lock(mutex_);
  return sources_;
}

void MemoryStore::forget_source(SourceId source) {
  MutexLock lock(mutex_);
  std::erase_if(sources_, [&](const Source& other) { return other.id == source; });
}

}  // namespace footnote::fakes
