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

/// How much memory vectors may take that are in no file yet, and what to do about it.
struct VectorBudget {
  std::uint64_t unsaved_bytes_max = std::numeric_limits<std::uint64_t>::max();
  /// Called after a step that went past it, on the writer's thread, with the corpus that holds most: it should be saved.
  std::function<void(const CallContext& call, CorpusId corpus)> save = {};
};

/// Vectors of each corpus: short forms in memory, full numbers in memory until they are saved and in the file from then on.
/// A space's dimension is that of its first vector, or as declared. Of spaces that measure by cosine, vectors need not have
/// unit length. A vector that can't be compared (without direction there, not finite anywhere) is left out and logged, so that a
/// single bad row can't keep a corpus from being searched.
class LocalVectorStore final : public VectorStore, public SavedIndex {
 public:
  /// Borrows `helpers`, which does half of large searches. REQUIRES: the level is usable here.
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
  /// Of full numbers, in all corpora.
  std::uint64_t unsaved_bytes() const;

  /// Graphs are an aid of search and no part of what the index holds: without them, and while they are made, rows are read one by one.
  /// True when a space of the corpus has `vectors_min` vectors and no graph, or one that too much has changed under.
  bool wants_graphs(CorpusId corpus, std::size_t vectors_min) const;
  /// Makes those graphs, without keeping anybody waiting; takes minutes for a million vectors. Gives how many vectors they are of.
  /// kCancelled, kDeadlineExceeded: the call ended before; nothing changed.
  Result<std::size_t> make_graphs(const CallContext& call, CorpusId corpus, std::size_t vectors_min);
  Result<void> drop_graphs(CorpusId corpus);
  /// Counts nodes.
  IndexExtent graph_extent(CorpusId corpus) const;
  /// As save() and load() of SavedIndex, of the graphs alone. The vectors must be there already.
  Result<void> save_graphs(const std::filesystem::path& path, const IndexHead& head) const;
  Result<void> load_graphs(IndexFileReader& file);

  Result<std::vector<ScoredChunk>> search(const CallContext& call, const VectorQuery& query) const override;
  Result<std::vector<double>> score(const CallContext& call, const VectorQuery& query, std::span<const ChunkId> chunks) const override;

 private:
  struct Space {
    Distance distance = Distance::kCosine;
    std::size_t dimension = 0;                 ///< 0: not known yet.
    std::optional<ann::FlatIndex> index = {};  ///< From the first vector on.
  };

  /// The spaces of one corpus; its own has no name.
  struct Rows {
    cpu::CpuLevel level = cpu::CpuLevel::kPortable;
    std::map<std::string, Space, std::less<>> spaces = {};
    std::map<std::int64_t, Generation> bare = {};  ///< Rows without a vector that can be compared, in any space, and their births.
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
  void tell_of_damage(CorpusId corpus, std::uint64_t vectors) const;
  void keep_to_budget(const CallContext& call);

  const VectorBudget budget_;
  HelperThreads* const helpers_;
  CorpusIndexes<Rows> corpora_;
  std::atomic<std::uint64_t> save_at_bytes_;  // The budget, or more after a save that did not help.
  mutable Mutex mutex_;
  mutable std::set<CorpusId> told_ FOOTNOTE_TSA(guarded_by(mutex_));  // Whose damage was logged.
};

}  // namespace footnote
