#include "answer/answer_service.h"

#include <algorithm>

#include "answer/model_stream.h"
#include "answer/quote.h"
#include "base/log.h"
#include "base/text.h"
#include "prompt/kb_prompt.h"

namespace footnote::answer {

namespace {

constexpr std::string_view kRefusalText = "I could not find an answer to this in the documents.";
/// The reader looks for sentences in the best passages only: further down the list it finds look-alikes.
constexpr std::size_t kReadPassagesMax = 5;
/// And only in passages that come near the best: a superseded page must not speak beside the current one.
constexpr double kReadScoreShareMin = 0.8;
constexpr std::chrono::seconds kFinishTimeout{10};

std::vector<SourceBlock> number_sources(const std::vector<Hit>& hits) {
  std::vector<SourceBlock> blocks;
  for (const Hit& hit : hits) blocks.push_back({static_cast<int>(blocks.size()) + 1, hit});
  return blocks;
}

using Microseconds = std::chrono::microseconds;

Microseconds since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration_cast<Microseconds>(std::chrono::steady_clock::now() - start);
}

/// Passes everything on, and notes when the first text went.
class FirstTextListener final : public TurnListener {
 public:
  FirstTextListener(TurnListener& next, std::chrono::steady_clock::time_point start, std::optional<Microseconds>& first_text)
      : next_(next), start_(start), first_text_(first_text) {}
  Result<void> on_start(const TurnId& turn) override { return next_.on_start(turn); }
  Result<void> on_sources(std::span<const SourceBlock> sources) override { return next_.on_sources(sources); }
  Result<void> on_text(std::string_view text) override {
    if (!first_text_) first_text_ = since(start_);
    return next_.on_text(text);
  }
  Result<void> on_check(const SentenceCheck& check) override { return next_.on_check(check); }

 private:
  TurnListener& next_;
  const std::chrono::steady_clock::time_point start_;
  std::optional<Microseconds>& first_text_;
};

std::size_t bytes_of(const std::vector<ChatMessage>& messages) {
  std::size_t bytes = 0;
  for (const ChatMessage& message : messages) bytes += message.content.size();
  return bytes;
}

std::string_view name_of(const Outcome& outcome) {
  if (std::holds_alternative<Answer>(outcome)) return "answer";
  return std::holds_alternative<Refusal>(outcome) ? "refusal" : "clarification";
}

/// Renumbers blocks so that the quoted ones come first, as 1, 2, 3: a reader of the answer sees no gaps.
std::vector<SourceBlock> quoted_first(const Reading& reading, const std::vector<SourceBlock>& blocks) {
  std::vector<SourceBlock> out;
  std::vector<bool> taken(blocks.size(), false);
  const auto take = [&](std::size_t i) {
    if (taken[i]) return;
    taken[i] = true;
    out.push_back({static_cast<int>(out.size()) + 1, blocks[i].hit});
  };
  for (const ReadSpan& span : reading.spans) take(span.passage);
  return out;
}

/// One turn on its way: what the stages share.
class TurnRun {
 public:
  TurnRun(const AnswerService::Ports& ports, const TurnMetrics* metrics, const CallContext& call, const Question& question,
          TurnListener& listener)
      : ports_(ports), metrics_(metrics), call_(call), question_(question), listener_(listener, start_, report_.trace.first_text) {}

  Result<TurnReport> run() {
    start_turn();
    auto outcome = retrieve_and_decide();
    report_.answer_time = since(start_) - report_.retrieval_time;
    report_.turn.latency = std::chrono::duration_cast<std::chrono::milliseconds>(since(start_));
    if (!outcome) {
      finish_failed(outcome.error());
      return std::unexpected(std::move(outcome).error());
    }
    report_.turn.outcome = *std::move(outcome);
    finish();
    return std::move(report_);
  }

 private:
  void start_turn() {
    Turn& turn = report_.turn;
    turn.id = {"turn_" + random_base62(22)};
    turn.workspace = question_.workspace;
    turn.corpus = question_.corpus;
    turn.conversation = question_.conversation;
    turn.question = question_.text;
    turn.asked_at = ports_.clock.now();
    report_.trace.trace = call_.trace;
    report_.trace.request_id = call_.request_id;
    report_.trace.profile = question_.profile;
  }

  /// Runs one stage of the turn and notes its time.
  template <class Body>
  auto timed(std::string_view stage, Body&& body) {
    stage_ = stage;
    const Microseconds began = since(start_);
    auto result = body();
    report_.trace.stages.push_back({stage, began, since(start_) - began});
    return result;
  }

  Result<Outcome> retrieve_and_decide() {
    FOOTNOTE_CHECK(listener_.on_start(report_.turn.id));
    const Microseconds began = since(start_);
    FOOTNOTE_TRY(report_.retrieval, ports_.retriever.retrieve(call_, question_.corpus, question_.text,
                                                              {.profile = question_.profile, .filter = question_.filter}));
    report_.retrieval_time = since(start_);
    report_.turn.generation = report_.retrieval.generation;
    for (retrieve::StageTiming stage : report_.retrieval.timings) {
      stage.start += began;
      report_.trace.stages.push_back(stage);
    }
    for (const retrieve::StageFailure& failure : report_.retrieval.failures) report_.trace.errors.push_back({failure.stage, failure.error});
    return decide();
  }

  Result<Outcome> decide() {
    std::vector<SourceBlock> blocks = number_sources(report_.retrieval.hits);
    fates().assign(blocks.size(), Fate::kBelowGate);
    if (!report_.retrieval.gate.grounded) return refuse(RefusalReason::kNoRelevantContext, std::move(blocks));
    return ports_.llm == nullptr ? quote(std::move(blocks)) : stream_model(std::move(blocks));
  }

  static Outcome refuse(RefusalReason reason, std::vector<SourceBlock> nearest) {
    nearest.resize(std::min<std::size_t>(nearest.size(), 3));
    return Refusal{reason, std::string(kRefusalText), std::move(nearest)};
  }

  /// What the reader looks at: passages of the first of `blocks`, and what the judge found in them.
  struct ToRead {
    std::vector<std::string_view> passages;
    std::vector<std::optional<FoundAnswer>> answers;
  };
  ToRead passages_to_read(const std::vector<SourceBlock>& blocks) {
    ToRead out;
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      // A penalty may push even the best below zero: it is read all the same.
      const bool near_best = i == 0 || blocks[i].hit.score >= kReadScoreShareMin * blocks.front().hit.score;
      const bool is_read = near_best && out.passages.size() < kReadPassagesMax;
      fates()[i] = is_read ? Fate::kNoSentence : near_best ? Fate::kReadLimit : Fate::kFarFromBest;
      if (!is_read) continue;
      const Hit& hit = blocks[i].hit;
      out.passages.push_back(hit.chunk.text);
      out.answers.push_back(hit.judged ? hit.judged->answer : std::nullopt);
    }
    return out;
  }

  Result<Reading> read(const std::vector<SourceBlock>& blocks) {
    const ToRead wanted = passages_to_read(blocks);
    FOOTNOTE_TRY(Reading reading, ports_.reader.read(call_, question_.text, wanted.passages, wanted.answers));
    for (const ReadSpan& span : reading.spans) fates()[span.passage] = Fate::kRepeated;
    reading = told_once(in_reading_order(std::move(reading)), blocks);  // before sources are numbered: each that is listed is cited
    for (const ReadSpan& span : reading.spans) fates()[span.passage] = Fate::kCited;
    return reading;
  }

  Result<Outcome> quote(std::vector<SourceBlock> blocks) {
    FOOTNOTE_TRY(Reading reading, timed("read", [&] { return read(blocks); }));
    if (reading.spans.empty()) return refuse(RefusalReason::kNoRelevantContext, std::move(blocks));
    std::vector<SourceBlock> sources;
    const QuotedAnswer quoted = timed("cite", [&] {
      sources = quoted_first(reading, blocks);
      for (ReadSpan& span : reading.spans) {
        const auto same = [&](const SourceBlock& block) { return block.hit.chunk.id == blocks[span.passage].hit.chunk.id; };
        span.passage = static_cast<std::size_t>(std::ranges::find_if(sources, same) - sources.begin());
      }
      return compose_quotes(reading, sources);
    });
    partial_sources_ = sources;
    FOOTNOTE_CHECK(listener_.on_sources(sources));
    for (const std::string& piece : quoted.pieces) {
      FOOTNOTE_CHECK(listener_.on_text(piece));
      partial_text_ += piece;
    }
    return Answer{.text = partial_text_,
                  .sources = std::move(sources),
                  .citations = quoted.citations,
                  .confidence = report_.retrieval.gate.confidence};
  }

  Result<Outcome> stream_model(std::vector<SourceBlock> blocks) {
    std::ranges::fill(fates(), Fate::kNotCited);
    const ChatRequest request{.messages = timed("prompt", [&] {
                                return prompt::build_kb_prompt(question_.text, blocks,
                                                               {.now = ports_.clock.now(), .fence = random_base62(16)});
                              })};
    ModelCall& model = report_.trace.model.emplace();
    model.prompt_messages = request.messages.size();
    model.prompt_bytes = bytes_of(request.messages);
    partial_sources_ = blocks;
    ModelStream stream(call_, blocks, listener_, ports_.checking);
    const auto end =
        timed("llm", [&] { return ports_.llm->stream(call_, request, [&](std::string_view piece) { return stream.take(piece); }); });
    partial_text_ = stream.text();
    if (!end && !stream.stopped()) return std::unexpected(end.error());
    model.name = end ? end->model : ports_.llm->model();
    if (end) {
      model.finish = end->finish;
      report_.prompt_tokens = end->prompt_tokens;
      report_.completion_tokens = end->completion_tokens;
    }
    if (stream.refused()) return refuse(RefusalReason::kLlmSelfRefusal, std::move(blocks));
    const auto finished = timed("cite", [&] { return stream.finish(); });
    partial_text_ = stream.text();
    report_.trace.checks = stream.counts();
    FOOTNOTE_CHECK(finished);
    // Not a sentence was left that its sources carry.
    if (trim(stream.text()).empty()) return refuse(RefusalReason::kBlockedByGuardrails, std::move(blocks));
    for (const Citation& citation : stream.citations()) fates().at(static_cast<std::size_t>(citation.number) - 1) = Fate::kCited;
    return Answer{.text = stream.text(),
                  .sources = blocks,
                  .citations = stream.citations(),
                  .uncited = stream.uncited(),
                  .confidence = report_.retrieval.gate.confidence,
                  .model = model.name};
  }

  void finish() {
    log_turn();
    if (metrics_ != nullptr) metrics_->count(report_);
    if (!question_.stored) return;
    // Its own deadline: the caller may be gone by now, and the turn is stored all the same.
    const CallContext call = call_.detached(kFinishTimeout);
    const auto began = std::chrono::steady_clock::now();
    const auto stored =
        ports_.conversations.finish_turn(call, report_.turn, report_.prompt_tokens, report_.completion_tokens, render_turn_trace(report_));
    if (metrics_ != nullptr) metrics_->observe("store", std::chrono::duration<double>(since(began)).count());
    if (stored) return;
    if (metrics_ != nullptr) metrics_->count_not_stored();
    log(LogLevel::kError, "answer", "turn not stored", call,
        {{"turn", report_.turn.id.value}, {"code", to_string(stored.error().code)}, {"error", stored.error().message}});
  }

  /// What had come before the error is kept; a turn without a text is not.
  void finish_failed(const Error& error) {
    report_.trace.errors.push_back({stage_, error});
    if (partial_text_.empty()) {
      if (metrics_ != nullptr) metrics_->count_failed();
      log(LogLevel::kDebug, "answer", "turn failed", call_,
          {{"turn", report_.turn.id.value}, {"stage", stage_}, {"code", to_string(error.code)}});
      return;
    }
    report_.turn.state = TurnState::kPartial;
    report_.turn.outcome = Answer{.text = partial_text_, .sources = std::move(partial_sources_)};
    finish();
  }

  void log_turn() const {
    const auto* refusal = std::get_if<Refusal>(&report_.turn.outcome);
    log(LogLevel::kDebug, "answer", "turn", call_,
        {{"turn", report_.turn.id.value},
         {"outcome", report_.turn.state == TurnState::kPartial ? "partial" : name_of(report_.turn.outcome)},
         {"refusal_reason", refusal == nullptr ? "" : to_string(refusal->reason)},
         {"generation", report_.turn.generation},
         {"candidates", report_.retrieval.candidates},
         {"evidence", report_.retrieval.gate.evidence},
         {"retrieval_ms", static_cast<double>(report_.retrieval_time.count()) / 1000},
         {"answer_ms", static_cast<double>(report_.answer_time.count()) / 1000}});
  }

  std::vector<Fate>& fates() { return report_.trace.fates; }

  const AnswerService::Ports& ports_;
  const TurnMetrics* const metrics_;
  const CallContext& call_;
  const Question& question_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  TurnReport report_;
  FirstTextListener listener_;
  std::string_view stage_ = "retrieve";  // under way
  // What the client was told so far: its text, and the sources by the numbers that the text uses.
  std::string partial_text_;
  std::vector<SourceBlock> partial_sources_;
};

}  // namespace

Result<TurnReport> AnswerService::answer(const CallContext& call, const Question& question, TurnListener& listener) const {
  return TurnRun(ports_, metrics_.get(), call, question, listener).run();
}

}  // namespace footnote::answer
