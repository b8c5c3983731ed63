#include "ingest/source_sync.h"

#include <algorithm>
#include <set>

#include "ingest/time_to_go.h"

namespace footnote::ingest {
namespace {

std::int64_t weight_of(const SourceItem& item) { return item.bytes == 0 ? kItemBytesUnknown : static_cast<std::int64_t>(item.bytes); }

/// One sync of one source.
class Run {
 public:
  Run(const CallContext& call, const SourceSync::Ports& ports, const SourceRecord& source, const IngestOptions& options, FileStamps known,
      const SourceSync::OnProgress& on_progress)
      : call_(call), ports_(ports), source_(source), options_(options), known_(std::move(known)), on_progress_(on_progress) {}

  Result<void> run(SourceReader& reader) {
    FOOTNOTE_TRY(corpus_, ports_.catalog.corpus(call_, source_.spec.corpus));
    FOOTNOTE_TRY(const auto failures, ports_.sources.failures(call_, source_.id));
    for (const SourceFailure& failure : failures) failed_before_.emplace(failure.key, failure);
    FOOTNOTE_TRY(SourceItems listed, reader.list(call_));
    listing_.listed_at = listed.listed_at;
    listing_.unknown = std::move(listed.unknown);
    if (const auto prefix = source_.spec.options.find(std::string(kPrefixOption)); prefix != source_.spec.options.end()) {
      listing_.key_prefix = prefix->second;
    }
    complete_ = listed.complete;
    for (const Problem& problem : listed.problems) note_problem(problem);
    enlist(std::move(listed.items));
    FOOTNOTE_CHECK(tell());
    for (std::size_t i = 0; i < items_.size(); ++i) FOOTNOTE_CHECK(take(reader, SourceItem(items_[i])));
    FOOTNOTE_CHECK(flush());
    FOOTNOTE_CHECK(remove_gone());
    FOOTNOTE_CHECK(save_failures());
    return ports_.sources.note_sync(call_, source_.id, ports_.clock.now(), "");
  }

  JobProgress& progress() { return progress_; }
  FileStamps take_stamps() { return stamps_.size() > kStampsMax ? FileStamps{} : std::move(stamps_); }

 private:
  void enlist(std::vector<SourceItem> items) {
    for (SourceItem& item : items) {
      if (items_.size() >= kSourceItemsMax) {
        complete_ = false;
        return;
      }
      if (!keys_.insert(item.key).second) continue;
      progress_.total += weight_of(item);
      items_.push_back(std::move(item));
    }
  }

  /// Reads one item, unless it is known to be unchanged or to fail.
  Result<void> take(SourceReader& reader, const SourceItem& item) {
    FOOTNOTE_CHECK(call_.check());
    if (const auto known = known_.find(item.key); known != known_.end() && known->second == item.stamp && !item.fresh) {
      ++progress_.unchanged;
      stamps_.insert(*known);
      return pass(item);
    }
    if (const auto failure = failed_before_.find(item.key); failure != failed_before_.end()) {
      const bool waits = failure->second.stamp == item.stamp && ports_.clock.now() < failure->second.next_at;
      if (waits) {
        failures_.push_back(failure->second);
        progress_.add_error(item.key, failure->second.reason);
        return pass(item);
      }
    }
    FOOTNOTE_TRY(ItemRead read, reader.read(call_, item));
    enlist(std::move(read.found));
    switch (read.state) {
      case ItemRead::State::kDocument: return collect(item, std::move(read));
      case ItemRead::State::kUnchanged:
        ++progress_.unchanged;
        note_stamp(item, read.stamp);
        return pass(item);
      case ItemRead::State::kNoDocument: progress_.done += weight_of(item); return {};
      case ItemRead::State::kGone:
        gone_.push_back(item.key);
        progress_.done += weight_of(item);
        return {};
      case ItemRead::State::kFailed: note_failure(item, read.reason); return pass(item);
    }
    return {};
  }

  /// The item is there, and done.
  Result<void> pass(const SourceItem& item) {
    listing_.present.push_back(item.key);
    progress_.done += weight_of(item);
    return {};
  }

  Result<void> collect(const SourceItem& item, ItemRead read) {
    listing_.present.push_back(item.key);
    batch_bytes_ += read.document.content.size();
    batch_.push_back(std::move(read.document));
    batch_items_.push_back(item);
    if (!read.stamp.empty()) batch_items_.back().stamp = std::move(read.stamp);
    const bool full = batch_.size() >= kBatchDocumentsMax || batch_bytes_ >= kBatchBytesMax;
    return full ? flush() : Result<void>{};
  }

  Result<void> flush() {
    if (batch_.empty()) return tell();
    FOOTNOTE_TRY(const IngestReport report, ports_.ingestor.ingest_documents(call_, corpus_, source_.id, batch_, options_));
    progress_.added += static_cast<std::int64_t>(report.added);
    progress_.updated += static_cast<std::int64_t>(report.updated);
    progress_.unchanged += static_cast<std::int64_t>(report.unchanged);
    progress_.deleted += static_cast<std::int64_t>(report.deleted);
    std::map<std::string_view, const Problem*> problems;
    for (const Problem& problem : report.problems) {
      if (problem.kind == ProblemKind::kProblem) problems.emplace(problem.path, &problem);
    }
    for (const SourceItem& item : batch_items_) {
      const auto problem = problems.find(item.key);
      problem == problems.end() ? note_stamp(item, "") : note_failure(item, problem->second->reason);
      progress_.done += weight_of(item);
    }
    batch_.clear();
    batch_items_.clear();
    batch_bytes_ = 0;
    return tell();
  }

  void note_stamp(const SourceItem& item, const std::string& better) {
    const std::string& stamp = better.empty() ? item.stamp : better;
    if (!stamp.empty() && !item.fresh && stamps_.size() <= kStampsMax) stamps_[item.key] = stamp;
  }

  void note_failure(const SourceItem& item, const std::string& reason) {
    const auto before = failed_before_.find(item.key);
    const bool same = before != failed_before_.end() && before->second.stamp == item.stamp;
    const int attempts = same ? before->second.attempts + 1 : 1;
    failures_.push_back({item.key, item.stamp, reason, attempts, ports_.clock.now() + source_retry_wait(attempts)});
    progress_.add_error(item.key, reason);
  }

  void note_problem(const Problem& problem) {
    if (problem.kind == ProblemKind::kProblem) progress_.add_error(problem.path, problem.reason);
  }

  Result<void> remove_gone() {
    if (complete_) {
      FOOTNOTE_TRY(const IngestReport report, ports_.ingestor.prune(call_, corpus_, source_.id, listing_));
      progress_.deleted += static_cast<std::int64_t>(report.deleted);
      return {};
    }
    std::vector<std::string> own;
    for (const std::string& key : gone_) {
      FOOTNOTE_TRY(const auto document, ports_.chunks.find_document(call_, corpus_.id, key));
      if (document && document->source == source_.id) own.push_back(key);
    }
    if (own.empty()) return {};
    FOOTNOTE_TRY(const IngestReport report, ports_.ingestor.delete_documents(call_, corpus_, own));
    progress_.deleted += static_cast<std::int64_t>(report.deleted);
    return {};
  }

  Result<void> save_failures() {
    if (failures_.empty() && failed_before_.empty()) return {};
    return ports_.sources.set_failures(call_, source_.id, failures_);
  }

  Result<void> tell() {
    const auto left = time_to_go_.update(progress_.done, progress_.total, std::chrono::steady_clock::now());
    progress_.eta_seconds = left ? std::optional(left->count()) : std::nullopt;
    return on_progress_ ? on_progress_(progress_) : Result<void>{};
  }

  const CallContext& call_;
  const SourceSync::Ports& ports_;
  const SourceRecord& source_;
  const IngestOptions options_;
  const FileStamps known_;
  const SourceSync::OnProgress& on_progress_;
  Corpus corpus_ = {};
  std::vector<SourceItem> items_;
  std::set<std::string> keys_;
  FolderListing listing_;
  bool complete_ = true;
  std::vector<std::string> gone_;
  std::vector<MemoryDocument> batch_;
  std::vector<SourceItem> batch_items_;
  std::size_t batch_bytes_ = 0;
  std::map<std::string, SourceFailure> failed_before_;
  std::vector<SourceFailure> failures_;
  FileStamps stamps_;
  JobProgress progress_;
  TimeToGo time_to_go_{std::chrono::steady_clock::now()};
};

}  // namespace

FileStamps SourceSync::stamps_of(SourceId source) const {
  MutexLock lock(mutex_);
  const auto found = stamps_.find(source);
  return found == stamps_.end() ? FileStamps{} : found->second;
}

void SourceSync::forget(SourceId source) {
  MutexLock lock(mutex_);
  stamps_.erase(source);
}

Result<JobProgress> SourceSync::run(const CallContext& call, const SourceRecord& source, Stamps stamps, const OnProgress& on_progress) {
  const auto kind = ports_.kinds.find(source.spec.kind);
  if (kind == ports_.kinds.end()) {
    return fail(ErrorCode::kUnsupported, "sources of kind {} are not synced: send the documents again", to_string(source.spec.kind));
  }
  const IngestOptions options{.origin = kind->second->origin(), .secrets = options_.secrets, .originals = options_.originals};
  const FileStamps known = stamps == Stamps::kTrust ? stamps_of(source.id) : FileStamps{};
  auto reader = kind->second->open(call, source, known);
  Run run(call, ports_, source, options, known, on_progress);
  auto ended = reader ? run.run(**reader) : Result<void>(std::unexpected(reader.error()));
  if (!ended) {
    forget(source.id);
    // Whoever looks at the source sees why it is not up to date. A caller who is gone does not cancel that.
    const std::string& reason = ended.error().public_message.empty() ? ended.error().message : ended.error().public_message;
    (void)ports_.sources.note_sync(call.detached(std::chrono::seconds{5}), source.id, ports_.clock.now(), reason);
    return std::unexpected(std::move(ended).error());
  }
  {
    MutexLock lock(mutex_);
    stamps_[source.id] = run.take_stamps();
  }
  run.progress().eta_seconds.reset();
  return std::move(run.progress());
}

}  // namespace footnote::ingest
