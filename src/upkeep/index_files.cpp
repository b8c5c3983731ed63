#include "upkeep/index_files.h"

#include <algorithm>
#include <thread>

#include "base/contained.h"
#include "base/log.h"

namespace footnote::upkeep {
namespace {

constexpr std::string_view kSuffix = ".index";

std::string_view name_of(IndexKind kind) {
  switch (kind) {
    case IndexKind::kVectors: return "vectors";
    case IndexKind::kKeywords: return "keywords";
    case IndexKind::kCodes: return "codes";
    case IndexKind::kGraphs: return "graphs";
  }
  return "unknown";
}

/// Attempts to save an index that changes while it is being saved.
constexpr int kSaveTriesMax = 3;

}  // namespace

std::filesystem::path IndexFiles::path_of(CorpusId corpus, IndexKind kind) const {
  return folder_ / fmt::format("{}-{}{}", corpus.value, name_of(kind), kSuffix);
}

void IndexFiles::tidy(const std::vector<Corpus>& corpora) const {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder_, ignored)) {
    const std::filesystem::path& path = entry.path();
    const bool is_file_of_ours = path.extension() == kSuffix;
    if (!is_file_of_ours && path.extension() != AtomicFile::kTemporarySuffix) continue;
    const bool wanted =
        is_file_of_ours && std::ranges::any_of(corpora, [&](const Corpus& corpus) {
          return std::ranges::any_of(indexes_, [&](const SavedIndex* index) { return path_of(corpus.id, index->kind()) == path; });
        });
    if (!wanted) std::filesystem::remove(path, ignored);
  }
}

Result<void> IndexFiles::check_head(const CallContext& call, const Corpus& corpus, const SavedIndex& index, const IndexHead& head) const {
  const auto unusable = [](std::string why) { return std::unexpected(Error{ErrorCode::kFailedPrecondition, std::move(why), {}}); };
  if (head.kind != index.kind()) return unusable(fmt::format("it is an index of another kind ({})", static_cast<std::uint32_t>(head.kind)));
  if (head.rules != index.rules()) return unusable(fmt::format("it was built with rules {}, not {}", head.rules, index.rules()));
  if (head.corpus != corpus.id) return unusable(fmt::format("it is of corpus {}", head.corpus.value));
  if (head.space != corpus.space) {
    return unusable(fmt::format("it is of the model {} ({} numbers)", head.space.model_id, head.space.dimension));
  }
  if (head.generation > corpus.generation) {
    return unusable(fmt::format("it is at generation {}, ahead of the store's {}", head.generation, corpus.generation));
  }
  FOOTNOTE_TRY(const auto stamp, store_.stamp(call, corpus.id, head.generation));
  if (!stamp) return unusable(fmt::format("it is at generation {}, which the store does not remember", head.generation));
  if (*stamp != head.stamp) return unusable("it was built from another store, or from a state that has been rolled back");
  return {};
}

Result<IndexHead> IndexFiles::load_one(const CallContext& call, const Corpus& corpus, SavedIndex& index) const {
  FOOTNOTE_TRY(IndexFileReader file, IndexFileReader::open(path_of(corpus.id, index.kind())));
  FOOTNOTE_CHECK(check_head(call, corpus, index, file.head()));
  FOOTNOTE_CHECK(index.load(file));
  return file.head();
}

void IndexFiles::load(const CallContext& call, const Corpus& corpus) {
  // In parallel: reading and verifying these files dominates the start time of large stores.
  std::vector<std::jthread> threads;
  for (SavedIndex* index : indexes_) {
    if (!index->loads_late()) {
      threads.emplace_back([&, index] { contained("app", "loading an index", [&] { load_or_remove(call, corpus, *index); }); });
    }
  }
}

void IndexFiles::load_late(const CallContext& call, const Corpus& corpus) {
  for (SavedIndex* index : indexes_) {
    if (index->loads_late()) load_or_remove(call, corpus, *index);
  }
}

void IndexFiles::load_or_remove(const CallContext& call, const Corpus& corpus, SavedIndex& index) {
  const auto loaded = load_one(call, corpus, index);
  if (loaded) {
    const MutexLock lock(mutex_);
    saved_[{corpus.id, index.kind()}] = index.extent(corpus.id);
  } else if (loaded.error().code != ErrorCode::kNotFound && loaded.error().code != ErrorCode::kCancelled) {
    const std::filesystem::path path = path_of(corpus.id, index.kind());
    log(LogLevel::kWarn, "app", "an index file can't be used; removing it and rebuilding the index from the store",
        {{"file", path.string()}, {"corpus", corpus.name}, {"reason", loaded.error().message}});
    std::error_code ignored;
    std::filesystem::remove(path, ignored);
  }
}

bool IndexFiles::is_due(CorpusId corpus, const SavedIndex& index, When when) {
  const IndexExtent now = index.extent(corpus);
  const MutexLock lock(mutex_);
  const IndexExtent& then = saved_[{corpus, index.kind()}];
  if (now.generation == 0 || now.generation == then.generation) return false;
  return when == When::kAnythingChanged || now.generation - then.generation >= kSaveGenerations ||
         now.changed_rows - then.changed_rows >= std::max(kSaveRowsMin, now.rows / kSaveShare);
}

/// Whether the store has changed enough for the file of a lagging index to be rewritten; if there is no file, any change is enough.
Result<bool> IndexFiles::is_far_behind(const CallContext& call, const Corpus& corpus, const SavedIndex& index) const {
  const IndexExtent then = index.extent(corpus.id);
  if (then.generation == corpus.generation) return false;
  FOOTNOTE_TRY(const auto born, store_.chunk_ids(call, corpus.id, then.generation, corpus.generation));
  if (then.generation == 0) return !born.empty();
  FOOTNOTE_TRY(const auto kept, store_.chunk_ids(call, corpus.id, 0, corpus.generation));
  const std::uint64_t gone = then.rows + born.size() - std::min<std::uint64_t>(then.rows + born.size(), kept.size());
  return corpus.generation - then.generation >= kSaveGenerations ||
         born.size() + gone >= std::max<std::uint64_t>(kSaveRowsMin, kept.size() / kSaveShare);
}

Result<void> IndexFiles::save_one(const CallContext& call, const Corpus& corpus, const SavedIndex& index) {
  FOOTNOTE_CHECK(make_folders(folder_));
  for (int tries = 1;; ++tries) {
    IndexExtent extent = index.extent(corpus.id);
    if (index.lags()) extent.generation = corpus.generation;
    FOOTNOTE_TRY(const auto stamp, store_.stamp(call, corpus.id, extent.generation));
    if (!stamp) return fail(ErrorCode::kFailedPrecondition, "the store does not remember generation {}", extent.generation);
    const IndexHead head{.kind = index.kind(),
                         .rules = index.rules(),
                         .corpus = corpus.id,
                         .space = corpus.space,
                         .generation = extent.generation,
                         .stamp = *stamp};
    auto done = index.save(call, path_of(corpus.id, index.kind()), head);
    if (done) {
      const MutexLock lock(mutex_);
      saved_[{corpus.id, index.kind()}] = extent;
      return {};
    }
    if (done.error().code != ErrorCode::kFailedPrecondition || tries == kSaveTriesMax) return done;
  }
}

void IndexFiles::save(const CallContext& call, const Corpus& corpus, When when) {
  for (const SavedIndex* index : indexes_) {
    const Result<bool> due = !index->lags()                ? Result<bool>(is_due(corpus.id, *index, when))
                             : when == When::kInBackground ? is_far_behind(call, corpus, *index)
                                                           : Result<bool>(false);
    if (due && !*due) continue;
    const Result<void> saved = due ? save_one(call, corpus, *index) : std::unexpected(due.error());
    if (!saved && saved.error().code != ErrorCode::kCancelled) {
      log(LogLevel::kWarn, "app", "could not save an index; the next start will be slower",
          {{"corpus", corpus.name}, {"index", name_of(index->kind())}, {"error", saved.error().message}});
    }
  }
}

void IndexFiles::drop_damaged(const CallContext& call, const Corpus& corpus) {
  for (SavedIndex* index : indexes_) {
    if (!index->is_damaged(corpus.id)) continue;
    const std::filesystem::path path = path_of(corpus.id, index->kind());
    log(LogLevel::kWarn, "app", "an index file was damaged while in use; rebuilding the index from the store",
        {{"file", path.string()}, {"corpus", corpus.name}});
    std::error_code ignored;
    std::filesystem::remove(path, ignored);
    if (!index->drop(call, corpus.id)) continue;  // the call has ended; the next one retries
    const MutexLock lock(mutex_);
    saved_.erase({corpus.id, index->kind()});
  }
}

void IndexFiles::remove(CorpusId corpus, IndexKind kind) {
  std::error_code ignored;
  std::filesystem::remove(path_of(corpus, kind), ignored);
  const MutexLock lock(mutex_);
  saved_.erase({corpus, kind});
}

void IndexFiles::remove(CorpusId corpus) const {
  std::error_code ignored;
  for (const SavedIndex* index : indexes_) std::filesystem::remove(path_of(corpus, index->kind()), ignored);
}

}  // namespace footnote::upkeep
