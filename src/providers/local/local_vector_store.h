#pragma once

#include <atomic>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "engine/ann/flat_index.h"
#include "ports/vector_store.h"
#include "providers/local/corpus_indexes.h"
#include "providers/local/saved_index.h"

namespace footnote {

/// Limits the memory of vectors that are not saved to a file yet.
struct VectorBudget {
  std::uint64_t unsaved_bytes_max = std::numeric_limits<std::uint64_t>::max();
  /// Called on the writer's thread after a step that exceeded the limit, with the corpus that holds most: it should save it.
  std::function<void(const CallContext& call, CorpusId corpus)> save = {};
};

/// Vectors of each corpus: quantized codes in memory; full vectors in memory until they are saved, then in the file. A space's dimension is
/// declared, or that of its first vector. In cosine spaces, vectors need not have unit length. A vector that cannot be compared (not
/// finite, or zero in a cosine space) is skipped and logged, so that one bad row cannot make a corpus unsearchable.
class LocalVectorStore final : public VectorStore, public SavedIndex {
 public:
  /// Borrows `helpers`, which runs half of large searches. REQUIRES: this CPU supports `level`.
  explicit LocalVectorStore(cpu::CpuLevel level = cpu::best_cpu_level(), VectorBudget budget = {}, HelperThreads* helpers = nullptr);

  Result<Generation> generation(const CallContext& call, CorpusId corpus) const override;
  Result<void> apply(const CallContext& call, CorpusId corpus, const IndexChanges& changes) override;
  Result<void> forget(const CallContext& call, CorpusId corpus, Generation died_until) override;
  Result<void> drop(const CallContext& call, CorpusId corpus) override;

  IndexKind kind() const override { return IndexKind::kVectors; }
  std::uint32_t rules() const override { return 4; }
  IndexExtent extent(CorpusId corpus) const override { return corpora_.extent(corpus); }
  Result<void> save(const CallContext&, const std::filesystem::path& path, const IndexHead& head) const override {
    return corpora_.save(path, head);
  }
  Result<void> load(IndexFileReader& file) override;
  std::vector<LiveRow> live_rows(CorpusId corpus) const override { return corpora_.live_rows(corpus); }
  bool is_damaged(CorpusId corpus) const override;
  Result<void> check(CorpusId corpus) const override;
  /// Bytes of full vectors in all corpora that are not in a file yet.
  std::uint64_t unsaved_bytes() const;

  /// Graphs only speed up search and are not part of the index's contents: without them, and while they are built, rows are scanned. True
  /// if a space of the corpus has `vectors_min` vectors and no graph, or an outdated one.
  bool wants_graphs(CorpusId corpus, std::size_t vectors_min) const;
  /// Builds those graphs without blocking readers or writers; takes minutes for a million vectors. Returns how many vectors they cover.
  /// kCancelled, kDeadlineExceeded: the call ended first; nothing changed.
  Result<std::size_t> make_graphs(const CallContext& call, CorpusId corpus, std::size_t vectors_min);
  Result<void> drop_graphs(CorpusId corpus);
  /// Counts graph nodes.
  IndexExtent graph_extent(CorpusId corpus) const;
  /// Like save() and load() of SavedIndex, for the graphs alone. The vectors must be loaded already.
  Result<void> save_graphs(const std::filesystem::path& path, const IndexHead& head) const;
  Result<void> load_graphs(IndexFileReader& file);

  Result<std::vector<ScoredChunk>> search(const CallContext& call, const VectorQuery& query) const override;
  Result<std::vector<double>> score(const CallContext& call, const VectorQuery& query, std::span<const ChunkId> chunks) const override;

 private:
  struct Space {
    Distance distance = Distance::kCosine;
    std::size_t dimension = 0;                 ///< 0: not known yet.
    std::optional<ann::FlatIndex> index = {};  ///< Set from the first vector on.
  };

  /// The spaces of one corpus; its own space has the name "".
  struct Rows {
    cpu::CpuLevel level = cpu::CpuLevel::kPortable;
    std::map<std::string, Space, std::less<>> spaces = {};
    std::map<std::int64_t, Generation> bare = {};  ///< Rows without a comparable vector in any space, and their births.
    std::uint64_t graph_nodes_made = 0;

    const Space* find(std::string_view name) const;
    bool contains(std::int64_t label, Generation generation) const;
    void forget(Generation died_until);
    void mark_groups(rows::GroupMask& used) const;
    std::uint64_t row_count() const;
    void list_alive(Generation generation, std::vector<LiveRow>& out) const;
    std::uint64_t damaged_count() const;
    std::uint64_t heap_bytes() const;

    Result<void> save(ByteSink& sink) const;
    Result<void> load(ByteSource& source, const rows::RowLimits& limits);
    void seal();
    std::uint64_t raw_bytes() const;
    Result<void> save_raw(ByteSink& sink) const;
    void attach(const RawBytes& raw);

    Result<void> save_graphs(ByteSink& sink) const;
    Result<void> load_graphs(ByteSource& source);
  };

  static Result<void> add_spaces(const IndexChanges& changes, Rows& rows);
  static Result<void> change(const IndexChanges& changes, Rows& rows, DocumentTableWriter& documents);
  void log_damage(CorpusId corpus, std::uint64_t vectors) const;
  void keep_to_budget(const CallContext& call);

  const VectorBudget budget_;
  HelperThreads* const helpers_;
  CorpusIndexes<Rows> corpora_;
  std::atomic<std::uint64_t> save_at_bytes_;  // starts at the budget; raised after a save that did not free memory
  mutable Mutex mutex_;
  mutable std::set<CorpusId> damage_logged_ FOOTNOTE_TSA(guarded_by(mutex_));  // corpora whose damage was logged
};

}  // namespace footnote
