#include "answer/turn_run.h"

#include <algorithm>
#include <utility>

#include "answer/echo_guard.h"
#include "answer/join_quotes.h"
#include "answer/length_limit.h"
#include "answer/loop_guard.h"
#include "answer/quote.h"
#include "answer/whole_characters.h"
#include "base/pii.h"
#include "base/text.h"
#include "base/utf8.h"
#include "chunk/sentences.h"
#include "retrieve/language.h"

namespace footnote::answer {

namespace {

/// The reader reads only the best passages: lower ones contain look-alikes.
constexpr std::size_t kReadPassagesMax = 5;
/// Read only passages that score close to the best: a superseded page must not be quoted next to the current one.
constexpr double kReadScoreShareMin = 0.8;
const std::string model_reader_languages[] = {"en"};

using Microseconds = std::chrono::microseconds;

Microseconds since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration_cast<Microseconds>(std::chrono::steady_clock::now() - start);
}

std::size_t bytes_of(const std::vector<ChatMessage>& messages) {
  std::size_t bytes = 0;
  for (const ChatMessage& message : messages) bytes += message.content.size();
  return bytes;
}

/// Outdated documents are quoted only if the best passage is outdated too.
void keep_current(const std::vector<SourceBlock>& blocks, Reading& reading) {
  const auto is_outdated = [&](const ReadSpan& span) { return blocks[span.passage].hit.term(Stage::kPenalty) != nullptr; };
  if (reading.spans.empty() || is_outdated(reading.spans.front())) return;
  std::erase_if(reading.spans, is_outdated);
}

/// Renumbers blocks so that the quoted ones come first, as 1, 2, 3: the answer's numbers have no gaps.
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

/// Where a quote may be cut, best first: after a sentence, else after a word, else (a script without spaces) anywhere.
std::vector<std::size_t> earlier_ends(std::string_view text, const TextRange& range) {
  const std::string_view quote = text.substr(range.begin, range.size());
  std::vector<std::size_t> out;
  const auto sentences = chunk::split_sentences(quote);
  for (auto sentence = sentences.rbegin(); sentence != sentences.rend(); ++sentence) {
    if (sentence->end < quote.size()) out.push_back(range.begin + sentence->end);
  }
  for (std::size_t at = quote.find_last_of(" \n"); at != std::string_view::npos && at > 0; at = quote.find_last_of(" \n", at - 1)) {
    out.push_back(range.begin + at);
  }
  const std::size_t characters_begin = out.size();
  const std::size_t first_end = out.empty() ? quote.size() : out.back() - range.begin;
  for (std::size_t at = 0; next_code_point(quote, at), at < first_end;) out.push_back(range.begin + at);
  std::reverse(out.begin() + static_cast<std::ptrdiff_t>(characters_begin), out.end());
  return out;
}

/// As many quotes as fit; if even the best is too long, the part of it that fits. `whole` is false if anything was left out.
QuotedAnswer fitting_quotes(Reading& reading, const std::vector<SourceBlock>& sources, std::optional<std::size_t> characters_max,
                            bool& whole) {
  QuotedAnswer quoted = compose_quotes(reading, sources);
  const auto fits = [&] {
    std::size_t count = 0;
    for (const std::string& piece : quoted.pieces) count += count_code_points(piece);
    return !characters_max || count <= *characters_max;
  };
  whole = fits();
  while (!fits() && reading.spans.size() > 1) {
    reading.spans.pop_back();
    quoted = compose_quotes(reading, sources);
  }
  if (fits()) return quoted;
  ReadSpan& best = reading.spans.front();
  for (const std::size_t end : earlier_ends(sources[best.passage].hit.chunk.text, best.range)) {
    best.range.end = end;
    quoted = compose_quotes(reading, sources);
    if (fits()) break;
  }
  return quoted;
}

}  // namespace

std::vector<SourceBlock> number_sources(const std::vector<Hit>& hits) {
  std::vector<SourceBlock> blocks;
  blocks.reserve(hits.size());
  for (const Hit& hit : hits) blocks.push_back({static_cast<int>(blocks.size()) + 1, hit});
  return blocks;
}

std::string_view to_string(Progress progress) {
  switch (progress) {
    case Progress::kSearching: return "searching";
    case Progress::kThinking: return "thinking";
  }
  return "thinking";
}

Result<void> TextListener::on_text(std::string_view text) {
  if (!report_.trace.first_text) report_.trace.first_text = since(start_);
  FOOTNOTE_CHECK(next_.on_text(text));
  if (events_ != nullptr) events_->token_streamed({report_.turn, text});
  return {};
}

TurnRun::TurnRun(const TurnPorts& ports, const CallContext& call, const TurnSubject& subject, TurnListener& listener)
    : ports_(ports),
      record_{ports.conversations, ports.metrics, ports.events},
      call_(call),
      subject_(subject),
      listener_(listener, ports.events, start_, report_) {}

Microseconds TurnRun::since_start() const { return since(start_); }

Result<TurnReport> TurnRun::run() {
  start_turn();
  auto outcome = [&]() -> Result<Outcome> {
    FOOTNOTE_CHECK(listener_.on_start(report_.turn.id));
    return decide();
  }();
  report_.answer_time = since(start_) - report_.retrieval_time;
  report_.turn.latency = std::chrono::duration_cast<std::chrono::milliseconds>(since(start_));
  if (!outcome && is_wanted_end(outcome.error())) {
    // Cancelled before any output: report it, store nothing.
    const bool has_text = !partial_text_.empty();
    keep_partial();
    has_text ? finish() : note_turn_end(record_, call_, report_);
    return std::move(report_);
  }
  if (!outcome) {
    finish_failed(outcome.error());
    return std::unexpected(std::move(outcome).error());
  }
  report_.turn.outcome = *std::move(outcome);
  finish();
  return std::move(report_);
}

void TurnRun::start_turn() {
  Turn& turn = report_.turn;
  turn.id = {"turn_" + random_base62(22)};
  turn.workspace = subject_.workspace;
  turn.corpus = subject_.corpus;
  turn.conversation = subject_.conversation;
  turn.question = subject_.mask_pii ? mask_pii(subject_.text) : std::string(subject_.text);
  turn.asked_at = ports_.clock.now();
  report_.trace.trace = call_.trace;
  report_.trace.request_id = call_.request_id;
  report_.trace.profile = subject_.profile;
}

void TurnRun::note_retrieval(retrieve::Retrieval retrieval, Microseconds began) {
  report_.retrieval = std::move(retrieval);
  report_.retrieval_time = since(start_);
  report_.turn.generation = report_.retrieval.generation;
  for (retrieve::StageTiming stage : report_.retrieval.timings) {
    stage.start += began;
    report_.trace.stages.push_back(stage);
  }
  for (const retrieve::StageFailure& failure : report_.retrieval.failures) report_.trace.errors.push_back({failure.stage, failure.error});
}

Outcome TurnRun::refuse(RefusalReason reason, std::vector<SourceBlock> nearest) const {
  nearest.resize(std::min(nearest.size(), kNearestMax));
  return Refusal{reason, refusal_text(reason), std::move(nearest)};
}

Result<void> TurnRun::tell(std::string_view text) {
  FOOTNOTE_CHECK(listener_.on_text(text));
  partial_text_ += text;
  return {};
}

/// The reader's input, with the texts that it borrows.
struct TurnRun::ToRead {
  struct Text {
    std::string header;
    std::vector<TextRange> blocks;
  };
  std::vector<Text> texts;
  std::vector<ReaderPassage> passages;
};

bool TurnRun::reads_with_model() const {
  return ports_.model_reader != nullptr && retrieve::foreign_language(subject_.text, model_reader_languages).empty();
}

TurnRun::ToRead TurnRun::passages_to_read(const std::vector<SourceBlock>& blocks) {
  ToRead out;
  out.texts.reserve(blocks.size());  // passages point into it
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    // A penalty may push even the best below zero; the best is always read.
    const bool near_best = i == 0 || blocks[i].hit.score >= kReadScoreShareMin * blocks.front().hit.score;
    const bool is_read = reads_with_model() || (near_best && out.passages.size() < kReadPassagesMax);
    fates()[i] = is_read ? Fate::kNoSentence : near_best ? Fate::kReadLimit : Fate::kFarFromBest;
    if (!is_read) continue;
    const Hit& hit = blocks[i].hit;
    ToRead::Text& text = out.texts.emplace_back(header_of(hit));
    for (const chunk::QuoteBlock& block : quotable_blocks(hit)) text.blocks.push_back(block.range);
    out.passages.push_back({.text = hit.chunk.text,
                            .header = text.header,
                            .blocks = text.blocks,
                            .found = hit.judged ? hit.judged->answer : std::nullopt,
                            .rank_score = hit.score,
                            .coverage = hit.coverage});
  }
  return out;
}

Result<Reading> TurnRun::read(std::vector<SourceBlock>& blocks) {
  const ToRead wanted = passages_to_read(blocks);
  Reader& reader = reads_with_model() ? *ports_.model_reader : ports_.reader;
  FOOTNOTE_TRY(
      Reading reading,
      reader.read(call_, {report_.standalone.empty() ? subject_.text : report_.standalone, report_.retrieval.vector_search.scanned},
                  wanted.passages));
  if (reading.probability && !is_likely(*reading.probability)) {
    reading.spans.clear();
    std::ranges::fill(fates(), Fate::kBelowGate);
  }
  keep_current(blocks, reading);
  for (const ReadSpan& span : reading.spans) fates()[span.passage] = Fate::kRepeated;
  if (reading.probability) reading = join_quotes(std::move(reading), blocks);  // a reader of whole blocks, not of sentences
  reading = told_once(in_reading_order(std::move(reading)), blocks);           // before numbering, so that every listed source is cited
  for (const ReadSpan& span : reading.spans) fates()[span.passage] = Fate::kCited;
  return reading;
}

/// A reader that estimates a probability replaces the gate, which judged each passage on its own and ignored their order.
bool TurnRun::is_likely(double probability) {
  retrieve::GateVerdict& gate = report_.retrieval.gate;
  const double threshold = subject_.profile.gate.read_min;
  gate.grounded = probability >= threshold;
  gate.evidence = gate.confidence = probability;
  gate.threshold = threshold;
  gate.calibrated = true;  // This probability does not depend on the embedder or the judge.
  return gate.grounded;
}

Result<Outcome> TurnRun::quote(std::vector<SourceBlock> blocks, double confidence, std::optional<std::size_t> characters_max) {
  FOOTNOTE_TRY(Reading reading, timed(TurnStage::kRead, [&] { return read(blocks); }));
  if (reading.probability) confidence = *reading.probability;
  if (reading.spans.empty()) return refuse(RefusalReason::kNoRelevantContext, std::move(blocks));
  std::vector<SourceBlock> sources;
  const QuotedAnswer quoted = timed(TurnStage::kCite, [&] {
    sources = quoted_first(reading, blocks);
    for (ReadSpan& span : reading.spans) {
      const auto same = [&](const SourceBlock& block) { return block.hit.chunk.id == blocks[span.passage].hit.chunk.id; };
      span.passage = static_cast<std::size_t>(std::ranges::find_if(sources, same) - sources.begin());
    }
    bool whole = true;
    QuotedAnswer fitting = fitting_quotes(reading, sources, characters_max, whole);
    truncated_ = !whole;
    return fitting;
  });
  partial_sources_ = sources;
  FOOTNOTE_CHECK(listener_.on_sources(sources));
  for (const std::string& piece : quoted.pieces) {
    FOOTNOTE_CHECK(listener_.on_text(piece));
    partial_text_ += piece;
  }
  return Answer{.text = partial_text_, .sources = std::move(sources), .citations = quoted.citations, .confidence = confidence};
}

/// How a model's text ended.
struct TurnRun::ModelText {
  bool loops = false;
  bool recites = false;
};

Result<TurnRun::ModelText> TurnRun::read_model(const ChatRequest& request, ModelStream& stream, std::optional<std::size_t> characters_max,
                                               std::span<const std::string_view> unspoken) {
  std::optional<LengthLimit> limit;
  if (characters_max) limit.emplace(*characters_max);
  WholeCharacters characters;
  LoopGuard loop;
  EchoGuard echo(unspoken);
  const auto take = [&](std::string_view piece) -> Result<void> {
    const std::string text = characters.take(piece);
    if (loop.take(text)) return fail(ErrorCode::kCancelled, "the model repeats itself");
    const std::string speakable = echo.take(text);
    FOOTNOTE_CHECK(stream.take(limit ? limit->take(speakable) : speakable));
    if (echo.recited()) return fail(ErrorCode::kCancelled, "the model recites its rules");
    return limit && limit->full() ? fail(ErrorCode::kCancelled, "the answer is as long as it may be") : Result<void>{};
  };
  const auto end = timed(TurnStage::kLlm, [&] { return ports_.llm->stream(call_, request, take); });
  truncated_ = limit && limit->full();
  partial_text_ = stream.text();
  const bool was_cut = stream.stopped() || truncated_ || loop.loops() || echo.recited();
  if (!end && !was_cut) return std::unexpected(end.error());
  if (!truncated_ && !stream.stopped() && !loop.loops()) {
    std::string rest = echo.take(characters.finish()) + echo.finish();
    if (limit) rest = limit->take(rest) + limit->finish();
    FOOTNOTE_CHECK(stream.take(rest));
    truncated_ = limit && limit->full();
  }
  ModelCall& model = *report_.trace.model;
  model.name = end ? end->model : ports_.llm->model();
  if (end) {
    model.finish = end->finish;
    report_.tokens = sum_of(report_.tokens, end->tokens);
  }
  if (echo.recited()) report_.trace.errors.push_back({stage_, {ErrorCode::kFailedPrecondition, "the model recited its rules", {}}});
  if (loop.loops()) report_.trace.errors.push_back({stage_, {ErrorCode::kFailedPrecondition, "the model repeated itself", {}}});
  return ModelText{.loops = loop.loops(), .recites = echo.recited()};
}

/// The check compares words and meaning: it can't tell anything about a translation.
bool TurnRun::can_compare(std::string_view text, const std::vector<SourceBlock>& blocks) const {
  std::vector<Hit> hits;
  for (const SourceBlock& block : blocks) hits.push_back(block.hit);
  const std::string_view said = retrieve::detect_language(text);
  const std::string_view found = retrieve::language_of(hits);
  return said.empty() || found.empty() || said == found;
}

Result<Outcome> TurnRun::stream_model(std::vector<ChatMessage> messages, std::vector<SourceBlock> blocks, double confidence,
                                      std::optional<std::size_t> characters_max, std::span<const std::string_view> unspoken) {
  std::ranges::fill(fates(), Fate::kNotCited);
  const ChatRequest request{.messages = std::move(messages)};
  ModelCall& model = report_.trace.model.emplace();
  model.prompt_messages = request.messages.size();
  model.prompt_bytes = bytes_of(request.messages);
  partial_sources_ = blocks;
  ModelStream stream(call_, blocks, listener_, ports_.checking);
  FOOTNOTE_TRY(const ModelText end, read_model(request, stream, characters_max, unspoken));
  if (stream.refused() && !end.loops && !end.recites) return refuse(RefusalReason::kLlmSelfRefusal, std::move(blocks));
  const auto finished = timed(TurnStage::kCite, [&] { return stream.finish(); });
  partial_text_ = stream.text();
  report_.trace.checks = stream.counts();
  FOOTNOTE_CHECK(finished);
  const std::vector<SaidSentence> sentences = stream.said();
  const std::string& text = stream.text();
  const AnswerVerdict verdict = judge_answer({.question = subject_.text,
                                              .text = text,
                                              .sentences = sentences,
                                              .is_checked = stream.counts().has_value() && can_compare(text, blocks),
                                              .is_withheld = stream.counts() && stream.counts()->dropped > 0,
                                              .loops = end.loops,
                                              .recites = end.recites});
  if (verdict.no_answer && !may_stand(text, verdict)) {
    return quote_instead(*verdict.no_answer, blocks, confidence, characters_max);  // a copy: a late check may still read them
  }
  for (const Citation& citation : stream.citations()) fates().at(static_cast<std::size_t>(citation.number) - 1) = Fate::kCited;
  return Answer{.text = text,
                .sources = blocks,
                .citations = stream.citations(),
                .uncited = stream.uncited(),
                .confidence = verdict.no_answer ? 0 : said_confidence(verdict, confidence),
                .model = model.name};
}

Result<Outcome> TurnRun::quote_instead(NoAnswer reason, std::vector<SourceBlock> blocks, double confidence,
                                       std::optional<std::size_t> characters_max) {
  report_.fallback = reason;
  const std::string notice = withdrawn_text();
  if (!std::exchange(partial_text_, {}).empty()) FOOTNOTE_CHECK(listener_.on_withdraw({reason, notice}));
  partial_sources_.clear();
  truncated_ = false;
  FOOTNOTE_TRY(blocks, passages_to_quote(std::move(blocks)));
  const RefusalReason refusal = reason == NoAnswer::kEcho ? RefusalReason::kBlockedByGuardrails : RefusalReason::kNoRelevantContext;
  if (blocks.empty()) return refuse(refusal, {});
  std::vector<SourceBlock> nearest = blocks;
  auto quoted = quote(std::move(blocks), confidence, characters_max);
  const bool is_over = !quoted && (quoted.error().code == ErrorCode::kCancelled || quoted.error().code == ErrorCode::kDeadlineExceeded);
  if (is_over) return quoted;
  if (!quoted) report_.trace.errors.push_back({TurnStage::kRead, quoted.error()});
  if (quoted && std::holds_alternative<Answer>(*quoted)) return quoted;
  return refuse(refusal, std::move(nearest));
}

void TurnRun::finish() {
  note_turn_end(record_, call_, report_);
  if (!subject_.stored) return;
  store_turn(record_, call_, report_);
  after_store();
}

/// A turn that failed after some text is stored with that text; without text it is not stored.
void TurnRun::finish_failed(const Error& error) {
  const TraceError failure{stage_, error};
  report_.trace.errors.push_back(failure);
  if (partial_text_.empty()) return note_turn_failed(record_, call_, report_, failure);
  keep_partial();
  finish();
}

void TurnRun::keep_partial() {
  report_.turn.state = TurnState::kPartial;
  report_.turn.outcome = Answer{.text = partial_text_, .sources = std::move(partial_sources_)};
}

}  // namespace footnote::answer
