// Ingests, asks, searches, deletes, purges and restarts concurrently, and compares each read with a model of what it may see.
//
// usage: footnote_stress [--seconds 20] [--seed N]
//
// Invariants, whatever runs concurrently:
//   - a document is seen in one revision at a time, one that the model allows: acknowledged changes are found, deleted documents are not;
//   - a passage equals its document's text at its position; so does every quoted citation;
//   - nothing of one workspace is visible in the other;
//   - after a restart the store passes its own check and contains exactly what was acknowledged.
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <charconv>
#include <cstdlib>
#include <map>
#include <random>
#include <set>
#include <shared_mutex>
#include <thread>

#include "base/log.h"
#include "engine.h"
#include "model.h"

namespace footnote::stress {
namespace {

using namespace std::chrono_literals;

constexpr int kWorkspaces = 2;
constexpr int kWriters = 3;    // per workspace
constexpr int kDocuments = 6;  // per writer
constexpr int kReaders = 3;

struct Options {
  std::chrono::seconds time{20};
  std::uint64_t seed = 0;
};

/// Identifies a document: workspace, writer and number.
struct Slot {
  int workspace = 0;
  int writer = 0;
  int number = 0;

  /// A word that no other document has.
  std::string word() const { return fmt::format("topic{}w{}n{}", static_cast<char>('a' + workspace), writer, number); }
  std::string key() const { return word() + ".md"; }
  std::size_t index() const { return static_cast<std::size_t>((workspace * kWriters + writer) * kDocuments + number); }
};

std::string content_of(const Slot& slot, int revision) {
  std::string out = fmt::format("# About {}\n\n", slot.word());
  for (int part = 1; part <= 3; ++part) {
    out += fmt::format("## Part {} of {}\n\nThe colour of {} in part {} is shade{}x. ", part, slot.word(), slot.word(), part, revision);
    for (int i = 0; i < 40; ++i) out += fmt::format("Filler sentence {} says nothing. ", (revision * 7 + i * part) % 97);
    out += "\n\n";
  }
  return out;
}

/// The revision that a text contains; -1 if there is none.
int revision_in(std::string_view text) {
  const auto at = text.find("shade");
  int out = -1;
  if (at != std::string_view::npos) std::from_chars(text.data() + at + 5, text.data() + text.size(), out);
  return out;
}

class Stress {
 public:
  explicit Stress(const Options& options) : options_(options) {
    std::filesystem::create_directories(folder_);
    start_engine();
  }
  ~Stress() {
    engine_.reset();
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

  int run() {
    {
      std::vector<std::jthread> threads;
      for (int workspace = 0; workspace < kWorkspaces; ++workspace) {
        for (int writer = 0; writer < kWriters; ++writer) threads.emplace_back([=, this] { write(workspace, writer); });
      }
      for (int reader = 0; reader < kReaders; ++reader) threads.emplace_back([=, this] { read(reader); });
      threads.emplace_back([this] { purge(); });
      threads.emplace_back([this] { restart(); });
      const auto end = std::chrono::steady_clock::now() + options_.time;
      while (std::chrono::steady_clock::now() < end && violations_ == 0) std::this_thread::sleep_for(50ms);
      stop_ = true;
    }
    check_everything("at the end");
    fmt::print("stress: seed {}, {} puts, {} deletes, {} looks, {} answers, {} cancelled, {} purges, {} restarts, {} violations\n",
               options_.seed, puts_.load(), deletes_.load(), looks_.load(), answers_.load(), cancelled_.load(), purges_.load(),
               restarts_.load(), violations_.load());
    return violations_ == 0 ? 0 : 1;
  }

 private:
  template <class... Args>
  void violation(fmt::format_string<Args...> format, Args&&... args) {
    ++violations_;
    fmt::print(stderr, "VIOLATION (seed {}): {}\n", options_.seed, fmt::format(format, std::forward<Args>(args)...));
  }
  template <class T>
  bool good(const Result<T>& result, std::string_view doing) {
    if (!result) violation("{}: {}", doing, result.error().message);
    return result.has_value();
  }
  std::mt19937_64 random_for(int role, int number) const {
    return std::mt19937_64(options_.seed * 1000 + static_cast<std::uint64_t>(role * 100 + number));
  }

  /// Opens the folder like a new process, and brings the indexes up to date with the store.
  void start_engine() {
    engine_ = std::make_unique<Engine>(folder_, clock_);
    for (int i = 0; i < kWorkspaces; ++i) {
      const std::string name = i == 0 ? std::string(kDefaultWorkspace) : "other";
      auto workspace = engine_->catalog.find_workspace({}, name);
      if (!workspace) workspace = engine_->catalog.add_workspace({}, name);
      workspaces_[static_cast<std::size_t>(i)] = workspace->id;
      const Corpus corpus = engine_->catalog.ensure_corpus({}, workspace->id, "memory", engine_->embedder.space()).value();
      corpora_[static_cast<std::size_t>(i)] = corpus;
      sources_[static_cast<std::size_t>(i)] = engine_->catalog.ensure_source({}, corpus.id, SourceKind::kText, "")->id;
      good(engine_->sync.sync({}, corpus.id), "sync at start");
    }
  }

  /// A thread that wants exclusive access goes first: otherwise readers of the shared lock would starve it.
  std::shared_lock<std::shared_mutex> live() {
    while (alone_wanted_ > 0) std::this_thread::sleep_for(1ms);
    return std::shared_lock(lives_);
  }
  std::unique_lock<std::shared_mutex> live_alone() {
    ++alone_wanted_;
    std::unique_lock lock(lives_);
    --alone_wanted_;
    return lock;
  }

  // --- concurrent work

  void write(int workspace, int writer) {
    auto random = random_for(1, workspace * kWriters + writer);
    while (!stop_) {
      const auto alive = live();
      std::vector<Slot> slots;
      for (int number = 0; number < kDocuments; ++number) {
        if (random() % 3 == 0) slots.push_back({workspace, writer, number});
      }
      if (slots.empty()) continue;
      random() % 4 == 0 ? remove(slots) : put(slots);
    }
  }

  void put(const std::vector<Slot>& slots) {
    const std::size_t workspace = static_cast<std::size_t>(slots[0].workspace);
    std::vector<ingest::MemoryDocument> documents;
    std::vector<int> steps;
    for (const Slot& slot : slots) {
      steps.push_back(model(slot).begin(true));
      documents.push_back({.key = slot.key(), .content = content_of(slot, steps.back())});
    }
    if (!good(engine_->ingestor.ingest_documents({}, corpora_[workspace], sources_[workspace], documents), "put")) return;
    for (std::size_t i = 0; i < slots.size(); ++i) model(slots[i]).acknowledge(steps[i]);
    puts_ += slots.size();
  }

  void remove(const std::vector<Slot>& slots) {
    std::vector<std::string> keys;
    std::vector<int> steps;
    for (const Slot& slot : slots) {
      keys.push_back(slot.key());
      steps.push_back(model(slot).begin(false));
    }
    if (!good(engine_->ingestor.delete_documents({}, corpora_[static_cast<std::size_t>(slots[0].workspace)], keys), "delete")) return;
    for (std::size_t i = 0; i < slots.size(); ++i) model(slots[i]).acknowledge(steps[i]);
    deletes_ += slots.size();
  }

  void read(int reader) {
    auto random = random_for(2, reader);
    while (!stop_) {
      const auto alive = live();
      const Slot slot{static_cast<int>(random() % kWorkspaces), static_cast<int>(random() % kWriters),
                      static_cast<int>(random() % kDocuments)};
      switch (random() % 8) {
        case 0: leave_early(slot, random); break;
        case 1:
        case 2: ask(slot); break;
        default: look(slot);
      }
    }
  }

  static std::string question_about(const Slot& slot) { return fmt::format("What is the colour of {}?", slot.word()); }

  void look(const Slot& slot) {
    const int since = model(slot).acknowledged();
    const auto found = engine_->retriever.retrieve({}, corpora_[static_cast<std::size_t>(slot.workspace)].id, question_about(slot), {});
    if (!good(found, "search")) return;
    std::set<int> revisions;
    for (const Hit& hit : found->hits) {
      check_passage(slot.workspace, hit);
      if (hit.document_key == slot.key()) revisions.insert(revision_in(hit.chunk.text));
    }
    revisions.erase(-1);  // a passage that is only filler
    if (revisions.size() > 1) violation("{} seen in {} revisions at once", slot.key(), revisions.size());
    const auto seen = revisions.empty() ? std::nullopt : std::optional(*revisions.begin());
    if (!model(slot).allows(seen, since)) {
      violation("{}: saw {} where step {} was acknowledged", slot.key(), seen ? fmt::format("revision {}", *seen) : "nothing", since);
    }
    ++looks_;
  }

  void check_passage(int workspace, const Hit& hit) {
    if (hit.document_key.find(fmt::format("topic{}", static_cast<char>('a' + workspace))) != 0) {
      violation("{} seen from the other workspace", hit.document_key);
    }
    const DocumentModel* model = model_of(hit.document_key);
    const int since = model == nullptr ? 0 : model->acknowledged();
    const auto text = text_of(workspace, hit.chunk.document, hit.chunk.document_version);
    // All versions of a deleted document are gone at once.
    if (!text && text.error().code == ErrorCode::kNotFound && model != nullptr && model->allows(std::nullopt, since)) return;
    if (!good(text, "text of a passage")) return;
    if (text->substr(hit.chunk.range.begin, hit.chunk.range.size()) != hit.chunk.text)
      violation("a passage of {} is not what its text holds", hit.document_key);
    const auto foreign = text_of(1 - workspace, hit.chunk.document, hit.chunk.document_version);
    if (foreign || foreign.error().code != ErrorCode::kNotFound) violation("{} can be read from the other workspace", hit.document_key);
  }

  Result<std::string> text_of(int workspace, DocumentId document, int version) {
    FOOTNOTE_TRY(auto found, engine_->chunks.document_text({}, workspaces_[static_cast<std::size_t>(workspace)], document, version));
    return std::move(found.text);
  }

  answer::Question asked(const Slot& slot) const {
    const auto at = static_cast<std::size_t>(slot.workspace);
    return {.workspace = workspaces_[at], .corpus = corpora_[at].id, .text = question_about(slot)};
  }

  void ask(const Slot& slot) {
    answer::SilentListener listener;
    const auto report = engine_->answers.answer({}, asked(slot), listener);
    if (!good(report, "ask")) return;
    ++answers_;
    const auto* answer = std::get_if<Answer>(&report->turn.outcome);
    if (answer == nullptr) return;
    for (const Citation& citation : answer->citations) {
      const auto text = text_of(slot.workspace, citation.document, citation.document_version);
      if (!good(text, "text of a citation") || !citation.support_range) continue;
      const std::string quote = text->substr(citation.support_range->begin, citation.support_range->size());
      if (answer->text.find(quote) == std::string::npos) violation("the answer does not hold the quoted sentence '{}'", quote);
    }
  }

  /// A client that disconnects at any moment gets a cancellation error, or an answer that was faster.
  void leave_early(const Slot& slot, std::mt19937_64& random) {
    std::stop_source source;
    CallContext call;
    call.stop = source.get_token();
    const std::jthread leaver([&source, wait = std::chrono::microseconds(random() % 3000)] {
      std::this_thread::sleep_for(wait);
      source.request_stop();
    });
    answer::SilentListener listener;
    const auto report = engine_->answers.answer(call, asked(slot), listener);
    if (!report && report.error().code != ErrorCode::kCancelled) violation("a cancelled turn ended with: {}", report.error().message);
    ++cancelled_;
  }

  /// Dead rows may be purged once they are older than the grace period: the clock jumps while nobody reads, then they are purged
  /// concurrently with everything else.
  void purge() {
    while (!stop_) {
      std::this_thread::sleep_for(200ms);
      {
        const auto nobody = live_alone();
        clock_.advance(ingest::kPurgeGrace + 1min);
      }
      const auto alive = live();
      for (const Corpus& corpus : corpora_) good(engine_->sync.purge({}, corpus.id), "purge");
      ++purges_;
    }
  }

  void restart() {
    while (!stop_) {
      std::this_thread::sleep_for(1500ms);
      const auto nobody = live_alone();
      engine_.reset();
      start_engine();
      check_everything("after a restart");
      ++restarts_;
    }
  }

  /// With nothing else running: the store is consistent, contains exactly what was acknowledged, and all of it is found.
  void check_everything(std::string_view when) {
    const auto findings = engine_->store->check({});
    if (good(findings, "check")) {
      for (const StoreFinding& finding : *findings) violation("{}: {}: {}", when, finding.check, finding.detail);
    }
    for (int workspace = 0; workspace < kWorkspaces; ++workspace) {
      const auto documents = engine_->chunks.documents({}, corpora_[static_cast<std::size_t>(workspace)].id, "", 1000);
      if (!good(documents, "documents")) continue;
      std::map<std::string, const Document*> stored;
      for (const Document& document : *documents) stored[document.key] = &document;
      for (int writer = 0; writer < kWriters; ++writer) {
        for (int number = 0; number < kDocuments; ++number) check_stored({workspace, writer, number}, stored, when);
      }
    }
  }

  void check_stored(const Slot& slot, const std::map<std::string, const Document*>& stored, std::string_view when) {
    const int since = model(slot).acknowledged();
    const auto found = stored.find(slot.key());
    std::optional<int> revision;
    if (found != stored.end()) {
      const auto text = text_of(slot.workspace, found->second->id, found->second->version);
      if (!good(text, "text")) return;
      revision = revision_in(*text);
    }
    if (!model(slot).allows(revision, since)) {
      violation("{}: {} holds {} where step {} was acknowledged", when, slot.key(), revision.value_or(-1), since);
    }
    look(slot);
  }

  DocumentModel& model(const Slot& slot) { return models_[slot.index()]; }
  /// Null: there is no document of that key.
  const DocumentModel* model_of(std::string_view key) {
    for (int workspace = 0; workspace < 2; ++workspace) {
      for (int writer = 0; writer < kWriters; ++writer) {
        for (int number = 0; number < kDocuments; ++number) {
          const Slot slot{workspace, writer, number};
          if (slot.key() == key) return &model(slot);
        }
      }
    }
    return nullptr;
  }

  const Options options_;
  const std::filesystem::path folder_ = std::filesystem::temp_directory_path() / fmt::format("footnote-stress-{}", ::getpid());
  ManualClock clock_{UtcTime{1'772'357'400s}};
  std::shared_mutex lives_;  ///< Shared by all threads that use the engine; exclusive for the thread that replaces it or moves the clock.
  std::atomic<int> alone_wanted_{0};
  std::unique_ptr<Engine> engine_;
  std::array<WorkspaceId, kWorkspaces> workspaces_;
  std::array<Corpus, kWorkspaces> corpora_;
  std::array<SourceId, kWorkspaces> sources_;
  std::array<DocumentModel, kWorkspaces * kWriters * kDocuments> models_;
  std::atomic<bool> stop_{false};
  std::atomic<std::size_t> puts_{0}, deletes_{0}, looks_{0}, answers_{0}, cancelled_{0}, purges_{0}, restarts_{0}, violations_{0};
};

Options parse(int count, char** arguments) {
  Options options{.seed = std::random_device{}()};
  for (int i = 1; i + 1 < count; i += 2) {
    const std::string_view name = arguments[i];
    if (name == "--seconds") options.time = std::chrono::seconds{std::atoll(arguments[i + 1])};
    if (name == "--seed") options.seed = static_cast<std::uint64_t>(std::atoll(arguments[i + 1]));
  }
  return options;
}

}  // namespace
}  // namespace footnote::stress

int main(int count, char** arguments) {
  footnote::set_log_level(footnote::LogLevel::kError);
  return footnote::stress::Stress(footnote::stress::parse(count, arguments)).run();
}
