#pragma once

#include <functional>
#include <map>
#include <set>

#include "base/mutex.h"
#include "base/utf8.h"
#include "ports/chunk_store.h"
#include "ports/embedder.h"
#include "ports/index.h"

namespace footnote::ingest::test {

inline constexpr int kDimension = 4;
inline const EmbeddingSpace kSpace{"fake", kDimension};

/// A vector that depends on the text alone. Counts what it is asked.
class FakeEmbedder final : public Embedder {
 public:
  EmbeddingSpace space() const override { return space_; }
  Result<std::vector<Embedding>> embed(const CallContext& call, std::span<const std::string_view> texts,
                                       const EmbedOptions& options) override {
    FOOTNOTE_CHECK(call.check());
    EXPECT_EQ(options.kind, EmbedKind::kPassage);
    batches.push_back(texts.size());
    if (fail_after == 0) return fail(ErrorCode::kUnavailable, "embedder down");
    if (fail_after > 0) --fail_after;
    std::vector<Embedding> out;
    for (std::string_view text : texts) {
      EXPECT_TRUE(is_valid_utf8(text));
      seen.emplace_back(text);
      std::vector<float> values(kDimension);
      for (std::size_t i = 0; i < text.size(); ++i) values[i % kDimension] += static_cast<float>(static_cast<unsigned char>(text[i]));
      out.push_back({{{{0, text.size()}, values}}, text.size() / 4, false});
    }
    return out;
  }

  EmbeddingSpace space_ = kSpace;
  std::vector<std::size_t> batches;
  std::vector<std::string> seen;
  int fail_after = -1;  ///< Calls that still work; -1 for all.
};

/// Documents with generations, all in memory.
class FakeStore final : public ChunkStore {
 public:
  Result<std::vector<Document>> documents(const CallContext&, CorpusId, std::string_view after, std::size_t limit) const override {
    const MutexLock lock(mutex_);
    std::vector<Document> out;
    for (auto at = live_.upper_bound(std::string(after)); at != live_.end() && out.size() < limit; ++at) out.push_back(at->second.document);
    return out;
  }
  Result<CorpusCounts> counts(const CallContext&, CorpusId) const override { return CorpusCounts{}; }
  Result<std::optional<Document>> find_document(const CallContext&, CorpusId, std::string_view key) const override {
    const MutexLock lock(mutex_);
    const auto found = live_.find(std::string(key));
    if (found == live_.end()) return std::nullopt;
    return found->second.document;
  }
  Result<DocumentText> document_text(const CallContext&, WorkspaceId, DocumentId, int) const override {
    return fail(ErrorCode::kNotFound, "no");
  }
  Result<std::vector<ChunkRecord>> chunks(const CallContext&, CorpusId, std::span<const ChunkId>) const override {
    return std::vector<ChunkRecord>{};
  }

  Result<IndexChanges> changes(const CallContext&, CorpusId, Generation after, std::size_t rows_max) const override {
    const MutexLock lock(mutex_);
    if (after != 0 && after < purged_until_) return fail(ErrorCode::kFailedPrecondition, "purged");
    IndexChanges out{after, after, {}, {}};
    while (out.to < generation_ && (out.to == after || out.added.size() + out.removed.size() < rows_max)) {
      ++out.to;
      for (const auto& [chunk, row] : rows_) {
        if (row.row.born == out.to) out.added.push_back(row.row);
        if (row.died == out.to) out.removed.push_back({chunk, row.died});
      }
    }
    return out;
  }
  Result<std::map<std::string, ChunkEmbedding>> embeddings_by_hash(const CallContext&, CorpusId,
                                                                   std::span<const std::string> hashes) const override {
    const MutexLock lock(mutex_);
    std::map<std::string, ChunkEmbedding> out;
    for (const std::string& hash : hashes) {
      if (const auto found = by_hash_.find(hash); found != by_hash_.end()) out[hash].vectors = found->second;
    }
    return out;
  }
  Result<std::vector<ChunkId>> chunk_ids(const CallContext&, CorpusId, Generation, Generation) const override {
    return std::vector<ChunkId>{};
  }
  Result<std::vector<PassageCodes>> passage_codes(const CallContext&, CorpusId, std::span<const ChunkId> ids) const override {
    return std::vector<PassageCodes>(ids.size());
  }
  Result<CommitReceipt> commit(const CallContext&, CorpusId, std::span<const DocumentDraft> drafts,
                               std::span<const std::string> deleted) override {
    const MutexLock lock(mutex_);
    commit_sizes.push_back(drafts.size());
    if (fail_commits) return fail(ErrorCode::kStorageFull, "disk full");
    CommitReceipt out{++generation_, {}, 0};
    for (const DocumentDraft& draft : drafts) out.documents.push_back(put(draft));
    for (const std::string& key : deleted) {
      out.deleted += live_.contains(key);
      kill(key);
    }
    return out;
  }
  Result<Generation> purge(const CallContext&, CorpusId, UtcTime before) override {
    const MutexLock lock(mutex_);
    purge_before = before;
    Generation newest = 0;
    std::erase_if(rows_, [&](const auto& entry) {
      if (entry.second.died == 0) return false;
      newest = std::max(newest, entry.second.died);
      return true;
    });
    purged_until_ = std::max(purged_until_, newest);
    return newest;
  }

  const DocumentDraft& draft(const std::string& key) const { return live_.at(key).draft; }
  std::string keys() const {
    std::string out;
    for (const auto& [key, stored] : live_) out += (out.empty() ? "" : " ") + key;
    return out;
  }
  Generation generation() const { return generation_; }

  std::vector<std::size_t> commit_sizes;
  bool fail_commits = false;
  UtcTime purge_before;

 private:
  struct Stored {
    Document document;
    DocumentDraft draft;
    std::vector<ChunkId> chunks;
  };
  struct Row {
    IndexRow row;
    Generation died = 0;
  };

  Document put(const DocumentDraft& draft) {
    const int version = live_.contains(draft.key) ? live_[draft.key].document.version + 1 : 1;
    kill(draft.key);
    Stored stored;
    stored.document = {DocumentId{++next_id_}, CorpusId{1},      draft.source,        draft.key, version,
                       draft.content_hash,     draft.attributes, draft.chunks.size(), {}};
    stored.draft = draft;
    for (const ChunkDraft& chunk : draft.chunks) {
      const ChunkId id{++next_id_};
      stored.chunks.push_back(id);
      by_hash_[chunk.content_hash] = chunk.vectors;
      rows_[id] = {{id, stored.document.id, generation_, draft.key, draft.attributes, chunk.heading_path, {}, chunk.text, chunk.vectors},
                   0};
    }
    live_[draft.key] = stored;
    return stored.document;
  }
  void kill(const std::string& key) {
    const auto found = live_.find(key);
    if (found == live_.end()) return;
    for (const ChunkId& chunk : found->second.chunks) rows_[chunk].died = generation_;
    live_.erase(found);
  }

  mutable Mutex mutex_;
  std::map<std::string, Stored> live_;
  std::map<ChunkId, Row> rows_;
  std::map<std::string, std::vector<std::vector<float>>> by_hash_;
  Generation generation_ = 0;
  Generation purged_until_ = 0;
  std::int64_t next_id_ = 0;
};

/// Keeps rows as the contract says.
class FakeIndex final : public IndexWriter {
 public:
  Result<Generation> generation(const CallContext&, CorpusId) const override { return at; }
  Result<void> apply(const CallContext&, CorpusId, const IndexChanges& changes) override {
    ++applies;
    if (refuse > 0 && refuse-- > 0) return fail(ErrorCode::kFailedPrecondition, "does not fit");
    if (changes.from != at) return fail(ErrorCode::kFailedPrecondition, "not my generation");
    for (const IndexRow& row : changes.added) texts[row.chunk] = row.text;
    for (const IndexRemoval& removal : changes.removed) dead[removal.chunk] = removal.died;
    at = changes.to;
    return {};
  }
  Result<void> forget(const CallContext&, CorpusId, Generation died_until) override {
    std::erase_if(dead, [&](const auto& entry) {
      if (entry.second > died_until) return false;
      texts.erase(entry.first);
      return true;
    });
    return {};
  }
  Result<void> drop(const CallContext&, CorpusId) override {
    ++drops;
    at = 0;
    texts.clear();
    dead.clear();
    return {};
  }
  std::multiset<std::string> live() const {
    std::multiset<std::string> out;
    for (const auto& [chunk, text] : texts) {
      if (!dead.contains(chunk)) out.insert(text);
    }
    return out;
  }

  Generation at = 0;
  std::map<ChunkId, std::string> texts;
  std::map<ChunkId, Generation> dead;
  int applies = 0;
  int drops = 0;
  int refuse = 0;
};

}  // namespace footnote::ingest::test
