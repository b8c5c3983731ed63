#pragma once

#include <map>
#include <memory>

#include "base/mutex.h"
#include "ports/chunk_store.h"
#include "providers/local/code_file.h"
#include "providers/local/saved_index.h"

namespace footnote {

/// Default limit on the records of one corpus's file.
inline constexpr std::uint64_t kCodeFileBytesDefault = std::uint64_t{64} << 30;

/// Files of token codes, one per corpus: a memory-mapped copy of the chunk store's data, so that a question reads a passage's codes without
/// querying the database. Whatever a file lacks (newer passages, those beyond its limit, damaged ones) is read from the store, so a file
/// may lag behind: it takes no memory and no reader depends on it. Chunk ids are never reused, and whoever changes the codes of chunks
/// drops the file, so its contents stay valid. Thread-safe.
class LocalCodeIndex final : public SavedIndex {
 public:
  /// Borrows the store.
  explicit LocalCodeIndex(const ChunkReader& store, std::uint64_t bytes_max = kCodeFileBytesDefault)
      : store_(store), bytes_max_(bytes_max) {}

  /// The file of a corpus; never null.
  std::shared_ptr<const CodeFile> codes(CorpusId corpus) const;

  IndexKind kind() const override { return IndexKind::kCodes; }
  std::uint32_t rules() const override { return 1; }
  bool lags() const override { return true; }
  IndexExtent extent(CorpusId corpus) const override;
  /// Writes the codes of all stored chunks with born <= head.generation; those of the last file are copied from it. Oldest first: what
  /// exceeds the limit is left to the store.
  Result<void> save(const CallContext& call, const std::filesystem::path& path, const IndexHead& head) const override;
  Result<void> load(IndexFileReader& file) override;
  bool is_damaged(CorpusId corpus) const override { return codes(corpus)->is_damaged(); }
  Result<void> check(CorpusId corpus) const override { return codes(corpus)->check(); }
  Result<void> drop(const CallContext& call, CorpusId corpus) override;

 private:
  struct State {
    Generation generation = 0;
    std::shared_ptr<const CodeFile> codes = std::make_shared<const CodeFile>();
  };

  State state(CorpusId corpus) const;
  Result<void> copy(const CallContext& call, CorpusId corpus, Generation generation, const CodeFile& last, CodeFileWriter& writer) const;

  const ChunkReader& store_;
  const std::uint64_t bytes_max_;

  mutable Mutex mutex_;
  // Shared: a reader keeps the file it started with.
  mutable std::map<CorpusId, State> states_ FOOTNOTE_TSA(guarded_by(mutex_));
  std::uint64_t drops_ FOOTNOTE_TSA(guarded_by(mutex_)) = 0;  // in any corpus; a save that began before a drop is not published
};

}  // namespace footnote
