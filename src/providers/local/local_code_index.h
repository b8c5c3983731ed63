#pragma once

#include <map>
#include <memory>

#include "base/mutex.h"
#include "ports/chunk_store.h"
#include "providers/local/code_file.h"
#include "providers/local/saved_index.h"

namespace footnote {

/// The most that the records of one corpus's file may take, unless told otherwise.
inline constexpr std::uint64_t kCodeFileBytesDefault = std::uint64_t{64} << 30;

/// Files of token codes, one a corpus: a copy of what the chunk store holds, mapped, so that a question reads a passage's codes without
/// asking the database. What a file lacks (passages since it was written, those past its bound, damaged ones) is in the store, so a file
/// may lag behind: no memory is held for it and no reader depends on it. No chunk's id is given twice, and
/// whoever changes chunks' codes drops the file: so what is in it is right for as long as somebody asks for it. Thread-safe.
class LocalCodeIndex final : public SavedIndex {
 public:
  /// Borrows the store.
  explicit LocalCodeIndex(const ChunkReader& store, std::uint64_t bytes_max = kCodeFileBytesDefault)
      : store_(store), bytes_max_(bytes_max) {}

  /// What is in the file of a corpus; never null.
  std::shared_ptr<const CodeFile> codes(CorpusId corpus) const;

  IndexKind kind() const override { return IndexKind::kCodes; }
  std::uint32_t rules() const override { return 1; }
  bool lags() const override { return true; }
  IndexExtent extent(CorpusId corpus) const override;
  /// Writes the codes of all chunks that were born by head.generation and that the store still has; those of the last file are
  /// copied from it. The oldest come first: what goes past the bound is left to the store.
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
  // Shared: a reader keeps the file that it began with.
  mutable std::map<CorpusId, State> states_ FOOTNOTE_TSA(guarded_by(mutex_));
  std::uint64_t drops_ FOOTNOTE_TSA(guarded_by(mutex_)) = 0;  // of any corpus: what was begun before is not put in its place
};

}  // namespace footnote
