#pragma once

#include <algorithm>
#include <concepts>
#include <functional>
#include <map>
#include <memory>
#include <utility>

#include "base/mutex.h"
#include "engine/rows/row_stream.h"
#include "ports/index.h"
#include "ports/live_rows.h"
#include "providers/local/document_table.h"
#include "providers/local/index_file.h"
#include "providers/local/published.h"

namespace footnote {

/// Validates `changes` for an index at `generation`: kFailedPrecondition if they start elsewhere, kInvalidArgument if rows are duplicated
/// or outside the step. `holds(label)` tells whether a row is alive now.
Result<void> check_changes(const IndexChanges& changes, Generation generation, const std::function<bool(std::int64_t)>& holds);

/// kFailedPrecondition unless oldest <= asked <= newest.
Result<void> check_generation(CorpusId corpus, Generation asked, Generation oldest, Generation newest);

/// The removals in the engine's format.
std::vector<rows::Death> deaths_of(const IndexChanges& changes);

/// Writes the facets of the used slots as a section of an index file; the other slots are written empty.
Result<void> write_documents(ByteSink& sink, const DocumentTable& documents, const rows::GroupMask& used);
Result<DocumentTableWriter> read_documents(ByteSource& source);

/// Size of a corpus's index, and how many rows were added or removed since it was empty or loaded.
struct IndexExtent {
  Generation generation = 0;
  std::uint64_t rows = 0;
  std::uint64_t changed_rows = 0;
};

/// Rows that, once saved, keep a part of their data memory-mapped in the file.
template <class Rows>
concept KeepsRaw = requires(Rows rows, const Rows constant, ByteSink& sink, const RawBytes& raw) {
  rows.seal();
  { constant.raw_bytes() } -> std::same_as<std::uint64_t>;
  { constant.save_raw(sink) } -> std::same_as<Result<void>>;
  rows.attach(raw);
};

/// The common part of both local indexes: one engine per corpus, changed step by step, read without waiting, saved to a file and loaded
/// from it. `Rows` is cheap to copy and has contains(label, generation), forget(died_until), mark_groups(mask), row_count(), save(sink) and
/// load(source, limits). Rows that satisfy KeepsRaw also write their dead rows, and drop them after load().
template <class Rows>
class CorpusIndexes {
 public:
  /// One published state of a corpus. Serves the generations oldest..newest.
  struct State {
    Generation oldest = 0;
    Generation newest = 0;
    Rows rows;
    DocumentTable documents;
    std::uint64_t changed_rows = 0;
  };

  /// `empty` is the initial state of every corpus.
  explicit CorpusIndexes(Rows empty = {}) : empty_(std::make_shared<const State>(State{0, 0, std::move(empty), {}, 0})) {}

  Generation generation(CorpusId corpus) const {
    const auto entry = find(corpus);
    return entry ? entry->state.get()->newest : 0;
  }

  IndexExtent extent(CorpusId corpus) const {
    const auto entry = find(corpus);
    const auto state = entry ? entry->state.get() : empty_;
    return {state->newest, state->rows.row_count(), state->changed_rows};
  }

  /// The rows of the newest generation, ordered by chunk, without duplicates.
  std::vector<LiveRow> live_rows(CorpusId corpus) const {
    const auto state = newest(corpus);
    if (state == nullptr) return {};
    std::vector<LiveRow> out;
    state->rows.list_alive(state->newest, out);
    const auto by_chunk = [](const LiveRow& row) { return std::pair(row.chunk, row.born); };
    // Segments are usually in order already.
    if (!std::ranges::is_sorted(out, {}, by_chunk)) std::ranges::sort(out, {}, by_chunk);
    const auto [first, last] = std::ranges::unique(out, {}, &LiveRow::chunk);
    out.erase(first, last);
    return out;
  }

  /// Writes the state at head.generation; rows that keep a part in the file read it from there from now on. kFailedPrecondition if the
  /// index is at another generation.
  Result<void> save(const std::filesystem::path& path, const IndexHead& head) const {
    const auto entry = find(head.corpus);
    if (!entry) {
      FOOTNOTE_CHECK(write(path, head, *empty_));
      return {};
    }
    MutexLock lock(entry->writer);
    auto next = std::make_shared<State>(*entry->state.get());
    FOOTNOTE_TRY(next->rows, write(path, head, *next));
    entry->state.set(std::move(next));
    return {};
  }

  /// Replaces a corpus's state by the contents of a file. Changes nothing unless the whole file is valid.
  Result<void> load(IndexFileReader& file) {
    DocumentTableWriter documents;
    auto next = std::make_shared<State>(*empty_);
    FOOTNOTE_CHECK(file.section([&](ByteSource& source) -> Result<void> {
      FOOTNOTE_TRY(documents, read_documents(source));
      return {};
    }));
    const rows::RowLimits limits{.born_last = file.head().generation, .group_count = static_cast<std::uint32_t>(documents.slot_count())};
    FOOTNOTE_CHECK(file.section([&](ByteSource& source) { return next->rows.load(source, limits); }));
    if constexpr (KeepsRaw<Rows>) {
      FOOTNOTE_TRY(const RawBytes raw, file.raw(next->rows.raw_bytes()));
      next->rows.attach(raw);
      next->rows.forget(file.head().generation);
    } else {
      FOOTNOTE_CHECK(file.finish());
    }
    next->oldest = next->newest = file.head().generation;
    const auto entry = find_or_make(file.head().corpus);
    MutexLock lock(entry->writer);
    entry->documents = std::move(documents);
    next->documents = entry->documents.publish();
    entry->state.set(std::move(next));
    return {};
  }

  /// The state that serves that generation.
  Result<std::shared_ptr<const State>> state_at(CorpusId corpus, Generation generation) const {
    const auto entry = find(corpus);
    auto state = entry ? entry->state.get() : empty_;
    FOOTNOTE_CHECK(check_generation(corpus, generation, state->oldest, state->newest));
    return state;
  }

  /// Validates `changes`, applies them to a copy with `change(Rows&, DocumentTableWriter&)`, and publishes it. If `change` fails, nothing
  /// is published; it must fail before it modifies either.
  template <class Change>
  Result<void> apply(CorpusId corpus, const IndexChanges& changes, const Change& change) {
    const auto entry = find_or_make(corpus);
    MutexLock lock(entry->writer);
    const auto current = entry->state.get();
    FOOTNOTE_CHECK(
        check_changes(changes, current->newest, [&](std::int64_t label) { return current->rows.contains(label, current->newest); }));
    auto next = std::make_shared<State>(*current);
    FOOTNOTE_CHECK(change(next->rows, entry->documents));
    next->newest = changes.to;
    next->changed_rows += changes.added.size() + changes.removed.size();
    next->documents = entry->documents.publish();
    entry->state.set(std::move(next));
    return {};
  }

  /// Modifies a copy of the newest rows with `change(Rows&)`, which must not affect search results, and publishes it.
  template <class Change>
  Result<void> amend(CorpusId corpus, const Change& change) {
    const auto entry = find(corpus);
    if (!entry) return fail(ErrorCode::kNotFound, "corpus {} has no index", corpus.value);
    MutexLock lock(entry->writer);
    auto next = std::make_shared<State>(*entry->state.get());
    FOOTNOTE_CHECK(change(next->rows));
    entry->state.set(std::move(next));
    return {};
  }

  void forget(CorpusId corpus, Generation died_until) {
    const auto entry = find(corpus);
    if (!entry) return;
    MutexLock lock(entry->writer);
    const auto current = entry->state.get();
    died_until = std::min(died_until, current->newest);
    if (died_until <= current->oldest) return;
    auto next = std::make_shared<State>(*current);
    next->oldest = died_until;
    next->rows.forget(died_until);
    rows::GroupMask used(entry->documents.slot_count(), 0);
    next->rows.mark_groups(used);
    entry->documents.keep_only(used);
    next->documents = entry->documents.publish();
    entry->state.set(std::move(next));
  }

  void drop(CorpusId corpus) {
    std::shared_ptr<Entry> dropped;  // freed after the lock is released
    MutexLock lock(mutex_);
    if (const auto found = entries_.find(corpus); found != entries_.end()) {
      dropped = std::move(found->second);
      entries_.erase(found);
    }
  }

  /// Calls `visit(corpus, state)` with each corpus's newest state.
  template <class Visit>
  void for_each(const Visit& visit) const {
    std::map<CorpusId, std::shared_ptr<Entry>> entries;
    {
      MutexLock lock(mutex_);
      entries = entries_;
    }
    for (const auto& [corpus, entry] : entries) visit(corpus, *entry->state.get());
  }

  /// The newest state, or null.
  std::shared_ptr<const State> newest(CorpusId corpus) const {
    const auto entry = find(corpus);
    return entry ? entry->state.get() : nullptr;
  }

 private:
  struct Entry {
    explicit Entry(std::shared_ptr<const State> first) : state(std::move(first)) {}

    Published<State> state;
    Mutex writer;
    DocumentTableWriter documents FOOTNOTE_TSA(guarded_by(writer));
  };

  /// Writes a whole state; returns its rows in the form to use from then on.
  static Result<Rows> write(const std::filesystem::path& path, const IndexHead& head, const State& state) {
    if (state.newest != head.generation) {
      return fail(ErrorCode::kFailedPrecondition, "the index is at generation {}, not {}", state.newest, head.generation);
    }
    Rows rows = state.rows;
    if constexpr (KeepsRaw<Rows>) {
      rows.seal();
    } else {
      rows.forget(head.generation);  // in this copy: nobody reads older generations after a load
    }
    rows::GroupMask used(state.documents.slot_count(), 0);
    rows.mark_groups(used);
    FOOTNOTE_TRY(IndexFileWriter file, IndexFileWriter::create(path, head));
    FOOTNOTE_CHECK(file.section([&](ByteSink& sink) { return write_documents(sink, state.documents, used); }));
    FOOTNOTE_CHECK(file.section([&](ByteSink& sink) { return rows.save(sink); }));
    if constexpr (KeepsRaw<Rows>) {
      FOOTNOTE_TRY(const RawBytes raw, file.raw([&](ByteSink& sink) { return rows.save_raw(sink); }));
      FOOTNOTE_CHECK(file.commit());
      rows.attach(raw);
      return rows;
    } else {
      FOOTNOTE_CHECK(file.commit());
      return state.rows;
    }
  }

  std::shared_ptr<Entry> find(CorpusId corpus) const {
    MutexLock lock(mutex_);
    const auto found = entries_.find(corpus);
    return found == entries_.end() ? nullptr : found->second;
  }
  std::shared_ptr<Entry> find_or_make(CorpusId corpus) {
    MutexLock lock(mutex_);
    auto& entry = entries_[corpus];
    if (!entry) entry = std::make_shared<Entry>(empty_);
    return entry;
  }

  const std::shared_ptr<const State> empty_;  // shared by all corpora until their first step
  mutable Mutex mutex_;
  // Shared: a caller keeps using its entry after the map is unlocked, even if the corpus is dropped meanwhile.
  std::map<CorpusId, std::shared_ptr<Entry>> entries_ FOOTNOTE_TSA(guarded_by(mutex_));
};

}  // namespace footnote
