#pragma once

#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "answer/model_stream.h"
#include "answer/turn_listener.h"
#include "answer/turn_metrics.h"
#include "answer/turn_report.h"
#include "base/call_context.h"
#include "base/clock.h"
#include "ports/conversation_store.h"
#include "ports/event_sink.h"
#include "ports/llm.h"
#include "ports/reader.h"

namespace footnote::answer {

/// What every turn needs. Borrowed.
struct TurnPorts {
  Reader& reader;
  Llm* llm = nullptr;  ///< Null: the built-in reader answers by quoting.
  ConversationStore& conversations;
  const Clock& clock;
  const TurnMetrics* metrics = nullptr;
  ModelStream::Options checking = {};
  EventSink* events = nullptr;
};

/// What a turn is about, whichever front door it came through.
struct TurnSubject {
  WorkspaceId workspace;
  CorpusId corpus;
  ConversationId conversation;
  std::string_view text;
  const Profile& profile;
  bool stored = true;
};

/// Passes everything on, notes when the first text went, and tells the event sink (if any) of each.
class TextListener final : public TurnListener {
 public:
  TextListener(TurnListener& next, EventSink* events, std::chrono::steady_clock::time_point start, TurnReport& report)
      : next_(next), events_(events), start_(start), report_(report) {}
  Result<void> on_start(const TurnId& turn) override { return next_.on_start(turn); }
  Result<void> on_progress(Progress progress) override { return next_.on_progress(progress); }
  Result<void> on_sources(std::span<const SourceBlock> sources) override { return next_.on_sources(sources); }
  Result<void> on_text(std::string_view text) override;
  Result<void> on_check(const SentenceCheck& check) override { return next_.on_check(check); }

 private:
  TurnListener& next_;
  EventSink* const events_;
  const std::chrono::steady_clock::time_point start_;
  TurnReport& report_;
};

/// One turn on its way: the stages that every front door's turns are made of, and their end (stored with its trace, logged, counted). A
/// door derives from it and says in `decide` how its questions are answered. Runs once, on one thread; borrows what it is given.
/// See AnswerService for what holds of storing and failing.
class TurnRun {
 public:
  virtual ~TurnRun() = default;
  TurnRun(const TurnRun&) = delete;
  TurnRun& operator=(const TurnRun&) = delete;

  Result<TurnReport> run();

 protected:
  TurnRun(const TurnPorts& ports, const CallContext& call, const TurnSubject& subject, TurnListener& listener);

  /// Retrieves and answers. The listener has heard `on_start`.
  virtual Result<Outcome> decide() = 0;
  virtual std::string refusal_text(RefusalReason reason) const = 0;
  /// True: a turn that ended with this error was ended on purpose and is told as a partial one.
  virtual bool is_wanted_end(const Error&) { return false; }
  /// The turn is stored, or could not be.
  virtual void after_store() {}

  /// Takes over what retrieval found, with its times and failures.
  void note_retrieval(retrieve::Retrieval retrieval, std::chrono::microseconds began);
  /// Quotes what answers; a refusal where nothing does.
  Result<Outcome> quote(std::vector<SourceBlock> blocks, double confidence, std::optional<std::size_t> characters_max = {});
  /// Streams the model's answer to these messages, whose sources are `blocks`. It ends where it recites one of `unspoken`.
  Result<Outcome> stream_model(std::vector<ChatMessage> messages, std::vector<SourceBlock> blocks, double confidence,
                               std::optional<std::size_t> characters_max = {}, std::span<const std::string_view> unspoken = {});
  Outcome refuse(RefusalReason reason, std::vector<SourceBlock> nearest) const;
  /// Shows a text that is no answer from sources.
  Result<void> tell(std::string_view text);

  /// Runs one stage of the turn and notes its time.
  template <class Body>
  auto timed(TurnStage stage, Body&& body) {
    stage_ = stage;
    const std::chrono::microseconds began = since_start();
    auto result = body();
    report_.trace.stages.push_back({stage, began, since_start() - began});
    return result;
  }
  std::chrono::microseconds since_start() const;
  std::vector<Fate>& fates() { return report_.trace.fates; }
  TurnReport& report() { return report_; }
  TurnListener& listener() { return listener_; }
  const TurnPorts& ports() const { return ports_; }
  const CallContext& call() const { return call_; }
  /// The answer was longer than its bound.
  bool truncated() const { return truncated_; }

 private:
  struct ToRead;
  ToRead passages_to_read(const std::vector<SourceBlock>& blocks);
  Result<Reading> read(const std::vector<SourceBlock>& blocks);
  void start_turn();
  void note_end();
  void finish();
  void finish_failed(const Error& error);
  void keep_partial();
  void log_turn() const;

  const TurnPorts ports_;
  const CallContext& call_;
  const TurnSubject subject_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  TurnReport report_;
  TextListener listener_;
  TurnStage stage_ = TurnStage::kRetrieve;  // under way
  bool truncated_ = false;
  // What the client was told so far: its text, and the sources by the numbers that the text uses.
  std::string partial_text_;
  std::vector<SourceBlock> partial_sources_;
};

/// Blocks of hits, numbered from 1.
std::vector<SourceBlock> number_sources(const std::vector<Hit>& hits);

}  // namespace footnote::answer
