#include "ingest/ingestor.h"

#include <algorithm>
#include <exception>
#include <functional>
#include <set>
#include <thread>
#include <unordered_map>

#include "ingest/bounded_queue.h"
#include "ingest/committer.h"
#include "ingest/index_sync.h"
#include "ingest/prepare.h"

namespace footnote::ingest {

namespace {

/// Documents listed of the store in one call.
constexpr std::size_t kListPageMax = 500;

using Prepare = std::function<Result<Prepared>(std::size_t index)>;

/// The thread's last resort: memory may run out under a large document.
Result<Prepared> prepare_safely(const Prepare& prepare, std::size_t index) {
  try {
    return prepare(index);
  } catch (const std::exception& error) {
    return fail(ErrorCode::kResourceExhausted, "reading a document: {}", error.what());
  }
}

/// Prepares `count` documents on a thread of its own, a bounded stretch ahead, and hands them to `take` in order.
Result<void> run_ahead(std::size_t count, const Prepare& prepare, const std::function<Result<void>(Prepared)>& take) {
  BoundedQueue<Result<Prepared>> queue(kReadAheadDocumentsMax, kReadAheadBytesMax);
  const std::jthread reader([&](const std::stop_token& stop) {
    for (std::size_t i = 0; i < count && !stop.stop_requested(); ++i) {
      Result<Prepared> prepared = prepare_safely(prepare, i);
      const bool failed = !prepared.has_value();
      const std::size_t bytes = failed ? 0 : prepared->bytes();
      if (!queue.push(std::move(prepared), bytes) || failed) break;
    }
    queue.close();
  });
  Result<void> outcome;
  while (outcome) {
    std::optional<Result<Prepared>> next = queue.pop();
    if (!next) break;
    outcome = *next ? take(**std::move(next)) : Result<void>(std::unexpected(std::move(next->error())));
  }
  queue.close();  // wakes the reader when it waits for room; it joins at the end of this scope
  return outcome;
}

Result<void> check_space(const Corpus& corpus, const Embedder& embedder) {
  const EmbeddingSpace space = embedder.space();
  if (space == corpus.space) return {};
  return fail(ErrorCode::kFailedPrecondition,
              "the embedder is {} ({} numbers), corpus '{}' was made with {} ({}): use that model, or another corpus", space.model_id,
              space.dimension, corpus.name, corpus.space.model_id, corpus.space.dimension);
}

/// Keys of the live documents that came from this source under this prefix.
Result<std::vector<std::string>> live_keys(const CallContext& call, const ChunkReader& reader, const Corpus& corpus,
                                           const SourceInput& input) {
  std::vector<std::string> out;
  std::string after;
  for (;;) {
    FOOTNOTE_CHECK(call.check());
    FOOTNOTE_TRY(const std::vector<Document> page, reader.documents(call, corpus.id, after, kListPageMax));
    for (const Document& document : page) {
      if (document.source == input.source && document.key.starts_with(input.key_prefix)) out.push_back(document.key);
    }
    if (page.size() < kListPageMax) return out;
    after = page.back().key;
  }
}

bool is_at_or_below(std::string_view key, std::string_view folder) {
  return key.starts_with(folder) && (folder.empty() || key.size() == folder.size() || key[folder.size()] == '/');
}

/// One input from walk to prune.
class SourceRun {
 public:
  SourceRun(const CallContext& call, const ChunkReader& reader, const Corpus& corpus, const SourceInput& input,
            const IngestOptions& options)
      : call_(call), reader_(reader), corpus_(corpus), input_(input), options_(options) {}

  Result<void> run(Committer& committer) {
    // Listed before the walk: a document that arrives meanwhile by another way is not mistaken for a deleted file.
    std::vector<std::string> before;
    if (options_.prune == Prune::kOn) {
      FOOTNOTE_TRY(before, live_keys(call_, reader_, corpus_, input_));
    }
    FOOTNOTE_TRY(const WalkResult found, walk(call_, input_.path, options_.walk));
    for (const Problem& problem : found.problems) committer.add_problem(problem);
    committer.expect(found.files.size());
    const Preparer preparer(call_, reader_, corpus_.id, options_);
    FOOTNOTE_CHECK(run_ahead(
        found.files.size(), [&](std::size_t i) { return preparer.file(input_, found, found.files[i]); },
        [&](Prepared prepared) {
          if (prepared.state != Prepared::State::kGone) kept_.insert(prepared.key);
          return committer.add(std::move(prepared));
        }));
    return committer.remove(gone(before, found));
  }

 private:
  std::vector<std::string> gone(const std::vector<std::string>& before, const WalkResult& found) const {
    // A single file says nothing about other documents of its source.
    std::set<std::string> named;
    for (const FoundFile& file : found.files) named.insert(input_.key_prefix + file.key);
    for (const Problem& problem : found.problems) named.insert(input_.key_prefix + problem.path);
    std::vector<std::string> out;
    for (const std::string& key : before) {
      const bool in_scope = found.is_folder || named.contains(key);
      const bool unknown =
          std::ranges::any_of(found.unknown, [&](const std::string& folder) { return is_at_or_below(key, input_.key_prefix + folder); });
      if (in_scope && !unknown && !kept_.contains(key)) out.push_back(key);
    }
    return out;
  }

  const CallContext& call_;
  const ChunkReader& reader_;
  const Corpus& corpus_;
  const SourceInput& input_;
  const IngestOptions& options_;
  std::set<std::string> kept_;
};

}  // namespace

Result<IngestReport> Ingestor::finish(Committer& committer, const Corpus& corpus) {
  FOOTNOTE_TRY(IngestReport report, committer.finish());
  if (on_change_ && report.added + report.updated + report.deleted > 0) on_change_(corpus);
  return report;
}

Result<IngestReport> Ingestor::ingest(const CallContext& call, const Corpus& corpus, std::span<const SourceInput> inputs,
                                      const IngestOptions& options, const ProgressCallback& progress) {
  FOOTNOTE_CHECK(check_space(corpus, embedder_));
  Committer committer(call, corpus, store_, embedder_, sync_, progress);
  for (const SourceInput& input : inputs) FOOTNOTE_CHECK(SourceRun(call, store_, corpus, input, options).run(committer));
  return finish(committer, corpus);
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
  FOOTNOTE_CHECK(run_ahead(
      order.size(), [&](std::size_t i) { return preparer.memory(source, documents[order[i]]); },
      [&](Prepared prepared) { return committer.add(std::move(prepared)); }));
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
