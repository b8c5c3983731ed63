#pragma once

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "ingest/index_sync.h"
#include "ingest/prepare.h"

namespace footnote::ingest {

/// Content hashes looked up in the store per call.
inline constexpr std::size_t kHashLookupMax = 512;
/// During an ingest, indexes are synced at most this often.
inline constexpr std::chrono::seconds kSyncInterval{5};

/// Collects prepared documents, embeds new chunks, commits, and only then reports the documents. Used by one thread.
class Committer {
 public:
  Committer(const CallContext& call, const Corpus& corpus, ChunkStore& store, Embedder& embedder, IndexSync* sync,
            const ProgressCallback& progress)
      : call_(call), corpus_(corpus), store_(store), embedder_(embedder), sync_(sync), progress_(progress) {}

  void expect(std::size_t documents) { total_ += documents; }
  void add_problem(Problem problem);
  /// Adds a document; commits when a batch is full.
  Result<void> add(Prepared prepared);
  /// Commits what is collected.
  Result<void> flush();
  /// Deletes live documents; each is reported after its commit.
  Result<void> remove(const std::vector<std::string>& keys);
  /// Flushes and syncs the indexes. A failed sync is only a warning: the store has everything.
  Result<IngestReport> finish();

 private:
  using Embeddings = std::map<std::string, ChunkEmbedding>;  // By content hash.

  Result<Embeddings> embeddings_of_pending();
  Result<void> reuse(Embeddings& embeddings);
  Result<void> embed(const std::vector<const chunk::Piece*>& pieces, Embeddings& embeddings);
  void count(const Prepared& committed);
  void tell(const std::string& key, DocumentChange change, std::size_t chunks);
  void sync_if_due();

  const CallContext& call_;
  const Corpus& corpus_;
  ChunkStore& store_;
  Embedder& embedder_;
  IndexSync* const sync_;
  const ProgressCallback& progress_;

  std::vector<Prepared> pending_;
  std::size_t pending_chunks_ = 0;
  std::size_t done_ = 0;
  std::size_t total_ = 0;
  bool index_behind_ = false;
  std::chrono::steady_clock::time_point synced_at_ = std::chrono::steady_clock::now();
  IngestReport report_;
};

}  // namespace footnote::ingest
