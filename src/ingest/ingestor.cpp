#include "ingest/ingestor.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <functional>
#include <new>
#include <thread>
#include <unordered_map>
#include <unordered_set>

#include "base/contained.h"
#include "ingest/bounded_queue.h"
#include "ingest/committer.h"
#include "ingest/index_sync.h"
#include "ingest/prepare.h"

namespace footnote::ingest {

namespace {

/// Documents listed from the store per call.
constexpr std::size_t kListPageMax = 500;

using Prepare = std::function<Result<Prepared>(std::size_t index)>;

/// If memory is not sufficient for a document, skip that document and continue with the others.
Result<Prepared> prepare_safely(const Preparer& preparer, SourceId source, const MemoryDocument& given) {
  try {
    return preparer.prepare(source, given);
  } catch (const std::bad_alloc&) {
    Prepared out;
    out.key = given.key;
    out.source = source;
    out.problems.push_back({given.key, "not enough memory to read it; split it, or allow more with --memory-max", ProblemKind::kProblem});
    return out;
  } catch (const std::exception& error) {
    return fail(ErrorCode::kUnavailable, "reading a document: {}; ingest it again", error.what());
  }
}

struct CloseAtEnd {
  BoundedQueue<Result<Prepared>>& queue;
  ~CloseAtEnd() { queue.close(); }
};

/// Prepares `count` documents on a separate thread, a bounded number ahead, and passes them to `take` in order.
Result<void> run_ahead(std::size_t count, const Prepare& prepare, const std::function<Result<void>(Prepared)>& take) {
  BoundedQueue<Result<Prepared>> queue(kReadAheadDocumentsMax, kReadAheadBytesMax);
  std::atomic<bool> reader_done{true};
  const std::jthread reader([&](const std::stop_token& stop) {
    reader_done = contained("ingest", "reading documents ahead", [&] {
      for (std::size_t i = 0; i < count && !stop.stop_requested(); ++i) {
        Result<Prepared> prepared = prepare(i);
        const bool failed = !prepared.has_value();
        const std::size_t bytes = failed ? 0 : prepared->bytes();
        if (!queue.push(std::move(prepared), bytes) || failed) break;
      }
    });
    queue.close();
  });
  // Wakes the reader if it waits for room; it joins at the end of this scope, also when `take` ran out of memory.
  const CloseAtEnd close{queue};
  Result<void> outcome;
  while (outcome) {
    std::optional<Result<Prepared>> next = queue.pop();
    if (!next) break;
    outcome = *next ? take(**std::move(next)) : Result<void>(std::unexpected(std::move(next->error())));
  }
  if (outcome && !reader_done) return fail(ErrorCode::kUnavailable, "out of memory while documents were read; ingest them again");
  return outcome;
}

Result<void> check_space(const Corpus& corpus, const Embedder& embedder) {
  const EmbeddingSpace space = embedder.space();
  if (space == corpus.space) return {};
  return fail(ErrorCode::kFailedPrecondition,
              "the embedder is {} ({} numbers), corpus '{}' was made with {} ({}): use that model, or another corpus", space.model_id,
              space.dimension, corpus.name, corpus.space.model_id, corpus.space.dimension);
}

bool is_at_or_below(std::string_view key, std::string_view folder) {
  return key.starts_with(folder) && (folder.empty() || key.size() == folder.size() || key[folder.size()] == '/');
}

/// Decides whether a document's file is gone.
class GoneRule {
 public:
  GoneRule(SourceId source, const FolderListing& listing)
      : source_(source), listing_(listing), present_(listing.present.begin(), listing.present.end()) {}

  bool operator()(const Document& document) const {
    const std::string& key = document.key;
    if (document.source != source_ || !key.starts_with(listing_.key_prefix)) return false;
    if (listing_.listed_at && document.indexed_at > *listing_.listed_at) return false;
    return !present_.contains(key) &&
           std::ranges::none_of(listing_.unknown, [&](const std::string& folder) { return is_at_or_below(key, folder); });
  }

 private:
  const SourceId source_;
  const FolderListing& listing_;
  const std::unordered_set<std::string_view> present_;
};

}  // namespace

Result<IngestReport> Ingestor::finish(Committer& committer, const Corpus& corpus) {
  FOOTNOTE_TRY(IngestReport report, committer.finish());
  if (on_change_ && report.added + report.updated + report.deleted > 0) on_change_(corpus);
  return report;
}

Result<IngestReport> Ingestor::ingest_documents(const CallContext& call, const Corpus& corpus, SourceId source,
                                                std::span<const MemoryDocument> documents, const IngestOptions& options,
                                                const ProgressCallback& progress) {
  FOOTNOTE_CHECK(check_space(corpus, embedder_));
  std::unordered_map<std::string_view, std::size_t> last;
  for (std::size_t i = 0; i < documents.size(); ++i) last[documents[i].key] = i;
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < documents.size(); ++i) {
    if (last[documents[i].key] == i) order.push_back(i);
  }
  Committer committer(call, corpus, store_, embedder_, sync_, progress);
  committer.expect(order.size());
  const Preparer preparer(call, store_, corpus.id, options);
  std::vector<std::string> gone;
  FOOTNOTE_CHECK(run_ahead(
      order.size(), [&](std::size_t i) { return prepare_safely(preparer, source, documents[order[i]]); },
      [&](Prepared prepared) {
        if (prepared.state == Prepared::State::kGone) gone.push_back(prepared.key);
        return committer.add(std::move(prepared));
      }));
  FOOTNOTE_CHECK(committer.remove(gone));
  return finish(committer, corpus);
}

Result<IngestReport> Ingestor::prune(const CallContext& call, const Corpus& corpus, SourceId source, const FolderListing& listing,
                                     const ProgressCallback& progress) {
  const GoneRule is_gone(source, listing);
  std::vector<std::string> gone;
  std::string after;
  for (bool more = true; more;) {
    FOOTNOTE_CHECK(call.check());
    FOOTNOTE_TRY(const std::vector<Document> page, store_.documents(call, corpus.id, after, kListPageMax));
    for (const Document& document : page) {
      if (is_gone(document)) gone.push_back(document.key);
    }
    more = page.size() == kListPageMax;
    if (more) after = page.back().key;
  }
  Committer committer(call, corpus, store_, embedder_, sync_, progress);
  FOOTNOTE_CHECK(committer.remove(gone));
  return finish(committer, corpus);
}

Result<IngestReport> Ingestor::delete_documents(const CallContext& call, const Corpus& corpus, std::span<const std::string> keys,
                                                const ProgressCallback& progress) {
  std::vector<std::string> live;
  for (const std::string& key : keys) {
    FOOTNOTE_TRY(const std::optional<Document> document, store_.find_document(call, corpus.id, key));
    if (document) live.push_back(key);
  }
  std::ranges::sort(live);
  live.erase(std::unique(live.begin(), live.end()), live.end());
  Committer committer(call, corpus, store_, embedder_, sync_, progress);
  FOOTNOTE_CHECK(committer.remove(live));
  return finish(committer, corpus);
}

}  // namespace footnote::ingest
