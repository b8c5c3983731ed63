#pragma once

#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "answer/model_stream.h"
#include "answer/turn_listener.h"
#include "answer/turn_record.h"
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
  Reader* model_reader = nullptr;  ///< A reader that estimates how likely its quotes answer, for English questions; null: not installed.
  Llm* llm = nullptr;              ///< Null: the built-in reader answers by quoting.
  ConversationStore& conversations;
  const Clock& clock;
  const TurnMetrics* metrics = nullptr;
  ModelStream::Options checking = {};
  EventSink* events = nullptr;
};

/// The subject of a turn, independent of the front door.
struct TurnSubject {
  WorkspaceId workspace;
  CorpusId corpus;
  ConversationId conversation;
  std::string_view text;
  const Profile& profile;
  bool stored = true;
  bool mask_pii = false;  ///< The question is stored without what identifies a person.
};

/// Forwards every event, records the time of the first text, and copies each to the event sink, if any.
class TextListener final : public TurnListener {
 public:
  TextListener(TurnListener& next, EventSink* events, std::chrono::steady_clock::time_point start, TurnReport& report)
      : next_(next), events_(events), start_(start), report_(report) {}
  Result<void> on_start(const TurnId& turn) override { return next_.on_start(turn); }
  Result<void> on_progress(Progress progress) override { return next_.on_progress(progress); }
  Result<void> on_sources(std::span<const SourceBlock> sources) override { return next_.on_sources(sources); }
  Result<void> on_text(std::string_view text) override;
  Result<void> on_check(const SentenceCheck& check) override { return next_.on_check(check); }
  Result<void> on_withdraw(const Withdrawal& withdrawal) override { return next_.on_withdraw(withdrawal); }

 private:
  TurnListener& next_;
  EventSink* const events_;
  const std::chrono::steady_clock::time_point start_;
  TurnReport& report_;
};

/// One turn in progress: the stages that all front doors share, and the end of the turn (stored with its trace, logged, counted). A front
/// door derives from it and implements `decide`. Runs once, on one thread; borrows its arguments. AnswerService documents the rules for
/// storing and errors.
class TurnRun {
 public:
  virtual ~TurnRun() = default;
  TurnRun(const TurnRun&) = delete;
  TurnRun& operator=(const TurnRun&) = delete;

  Result<TurnReport> run();

 protected:
  TurnRun(const TurnPorts& ports, const CallContext& call, const TurnSubject& subject, TurnListener& listener);

  /// Retrieves and answers. `on_start` was already called.
  virtual Result<Outcome> decide() = 0;
  virtual std::string refusal_text(RefusalReason reason) const = 0;
  /// Said behind a model's text that is withdrawn.
  virtual std::string withdrawn_text() const = 0;
  /// The passages that are quoted in place of a model's text, which was given `blocks`.
  virtual Result<std::vector<SourceBlock>> passages_to_quote(std::vector<SourceBlock> blocks) { return blocks; }
  /// True: this text is shown although no source carries it (small talk, "I don't know"). Its confidence is 0.
  virtual bool may_stand(std::string_view, const AnswerVerdict&) { return false; }
  /// True: this error ended the turn on purpose; the turn is reported as partial.
  virtual bool is_wanted_end(const Error&) { return false; }
  /// Called after storing, even if that failed.
  virtual void after_store() {}

  /// Takes over the result of retrieval, with its timings and failures.
  void note_retrieval(retrieve::Retrieval retrieval, std::chrono::microseconds began);
  /// True: the model reader answers this question and also decides whether it can be answered.
  bool reads_with_model() const;
  /// Quotes the passages that answer; refuses if there are none. `confidence` is used if the reader estimates no probability.
  Result<Outcome> quote(std::vector<SourceBlock> blocks, double confidence, std::optional<std::size_t> characters_max = {});
  /// Streams the model's answer to these messages, whose sources are `blocks`. The answer ends if it recites one of `unspoken` or repeats
  /// itself. A text that is no answer (answer_verdict.h) is withdrawn, and passages are quoted in its place. The confidence is that of what
  /// was said; `confidence` is that of the sources.
  Result<Outcome> stream_model(std::vector<ChatMessage> messages, std::vector<SourceBlock> blocks, double confidence,
                               std::optional<std::size_t> characters_max = {}, std::span<const std::string_view> unspoken = {});
  Outcome refuse(RefusalReason reason, std::vector<SourceBlock> nearest) const;
  /// Shows a text that is not an answer from sources.
  Result<void> tell(std::string_view text);

  /// Runs one stage of the turn and records its time.
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
  const TurnReport& report() const { return report_; }
  TurnListener& listener() { return listener_; }
  const TurnPorts& ports() const { return ports_; }
  const CallContext& call() const { return call_; }
  /// True if the answer was cut at its length bound.
  bool truncated() const { return truncated_; }

 private:
  struct ToRead;
  struct ModelText;
  Result<ModelText> read_model(const ChatRequest& request, ModelStream& stream, std::optional<std::size_t> characters_max,
                               std::span<const std::string_view> unspoken);
  bool can_compare(std::string_view text, const std::vector<SourceBlock>& blocks) const;
  Result<Outcome> quote_instead(NoAnswer reason, std::vector<SourceBlock> blocks, double confidence,
                                std::optional<std::size_t> characters_max);
  ToRead passages_to_read(const std::vector<SourceBlock>& blocks);
  Result<Reading> read(std::vector<SourceBlock>& blocks);
  bool is_likely(double probability);
  void start_turn();
  void finish();
  void finish_failed(const Error& error);
  void keep_partial();

  const TurnPorts ports_;
  const TurnRecordPorts record_;
  const CallContext& call_;
  const TurnSubject subject_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  TurnReport report_;
  TextListener listener_;
  TurnStage stage_ = TurnStage::kRetrieve;  // current
  bool truncated_ = false;
  // What the client has received so far: the text, and the sources by the numbers used in the text.
  std::string partial_text_;
  std::vector<SourceBlock> partial_sources_;
};

/// Turns hits into source blocks, numbered from 1.
std::vector<SourceBlock> number_sources(const std::vector<Hit>& hits);

}  // namespace footnote::answer
