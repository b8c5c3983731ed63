#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "base/utf8.h"
#include "fakes/fake_embedder.h"
#include "fakes/memory_store.h"

namespace footnote::ingest::test {

/// Records its inputs. Single-threaded.
class RecordedEmbedder final : public fakes::FakeEmbedder {
 public:
  Result<std::vector<Embedding>> embed(const CallContext& call, std::span<const std::string_view> texts,
                                       const EmbedOptions& options) override {
    EXPECT_EQ(options.kind, EmbedKind::kPassage);
    batches.push_back(texts.size());
    for (const std::string_view text : texts) {
      EXPECT_TRUE(is_valid_utf8(text));
      seen.emplace_back(text);
    }
    return FakeEmbedder::embed(call, texts, options);
  }

  std::vector<std::size_t> batches;
  std::vector<std::string> seen;
};

/// Records commits, which come from one thread.
class RecordedStore final : public fakes::MemoryStore {
 public:
  using MemoryStore::MemoryStore;

  Result<CommitReceipt> commit(const CallContext& call, CorpusId corpus, std::span<const DocumentDraft> drafts,
                               std::span<const std::string> deleted_keys) override {
    commit_sizes.push_back(drafts.size());
    auto receipt = MemoryStore::commit(call, corpus, drafts, deleted_keys);
    if (!receipt) return receipt;
    for (const DocumentDraft& draft : drafts) drafts_[draft.key] = draft;
    return receipt;
  }

  /// The last draft committed under this key.
  const DocumentDraft& draft(const std::string& key) const { return drafts_.at(key); }

  std::vector<std::size_t> commit_sizes;

 private:
  std::map<std::string, DocumentDraft> drafts_;
};

}  // namespace footnote::ingest::test
