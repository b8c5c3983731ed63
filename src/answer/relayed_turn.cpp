#include "answer/relayed_turn.h"

#include <algorithm>

#include "answer/bind_citations.h"
#include "answer/marker_scan.h"
#include "base/ids.h"
#include "base/log.h"
#include "base/utf8.h"

namespace footnote::answer {

namespace {

/// Binds the answer's markers to its sources. Slow (reads both texts in full): do not call it on a shared thread.
void cite(TurnReport& report) {
  auto* answer = std::get_if<Answer>(&report.turn.outcome);
  if (answer == nullptr) return;
  MarkerScan scan(answer->sources.size());
  scan.feed(answer->text);
  std::vector<Marker> markers;
  for (const MarkerScan::Mark& mark : scan.marks()) markers.push_back({static_cast<int>(mark.source), mark.byte_begin});
  answer->citations = bind_citations(answer->text, markers, answer->sources);
  for (const Citation& citation : answer->citations) {
    const auto& hits = report.retrieval.hits;
    const auto hit = std::ranges::find_if(hits, [&](const Hit& each) { return each.chunk.id == citation.chunk; });
    if (hit != hits.end()) report.trace.fates[static_cast<std::size_t>(hit - hits.begin())] = Fate::kCited;
  }
}

}  // namespace

RelayedTurn::RelayedTurn(RelayedTurns& turns, const CallContext& call, RelayedQuestion question,
                         std::chrono::steady_clock::time_point began)
    : turns_(turns), call_(call), id_{"turn_" + random_base62(22)}, start_(began) {
  Turn& turn = report_.turn;
  turn.id = id_;
  turn.workspace = question.workspace;
  turn.corpus = question.corpus;
  turn.question = std::move(question.text);
  turn.asked_at = turns.ports_.clock.now();
  turn.generation = question.retrieval.generation;
  report_.trace.trace = call.trace;
  report_.trace.request_id = call.request_id;
  report_.trace.profile = question.profile;
  report_.retrieval = std::move(question.retrieval);
  report_.retrieval_time = since_start();
  report_.trace.stages = report_.retrieval.timings;
  for (const retrieve::StageFailure& failure : report_.retrieval.failures) report_.trace.errors.push_back({failure.stage, failure.error});
  std::vector<Hit>& hits = report_.retrieval.hits;
  report_.trace.fates.assign(hits.size(), Fate::kNotPicked);
  for (const std::size_t place : question.given) {
    report_.trace.fates.at(place) = Fate::kNotCited;
    sources_.push_back({static_cast<int>(sources_.size()) + 1, hits[place]});
  }
  // A trace identifies passages by id, so free the texts: many turns may be in progress.
  for (Hit& hit : hits) std::string().swap(hit.chunk.text);
}

RelayedTurn::~RelayedTurn() {
  if (!has_ended_) fail({ErrorCode::kCancelled, "the answer was abandoned", {}});
}

std::string_view RelayedTurn::id() const { return turns_.ports_.stored ? std::string_view(id_.value) : std::string_view(); }

std::chrono::microseconds RelayedTurn::since_start() const {
  return std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - start_);
}

void RelayedTurn::on_prompt(std::size_t messages, std::size_t bytes) {
  asked_ = since_start();
  ModelCall& model = report_.trace.model.emplace();
  model.prompt_messages = messages;
  model.prompt_bytes = bytes;
}

void RelayedTurn::on_text(std::string_view text) {
  if (text.empty() || has_ended_) return;
  if (!report_.trace.first_text) report_.trace.first_text = since_start();
  if (turns_.ports_.events != nullptr) turns_.ports_.events->token_streamed({report_.turn, text});
  const std::string_view kept = utf8_prefix(text, kRelayedTextBytesMax - text_.size());
  if (!is_cut_) text_ += kept;
  is_cut_ = is_cut_ || kept.size() < text.size();
}

void RelayedTurn::finish(RelayedEnd ended) {
  if (has_ended_) return;
  if (!report_.trace.model) report_.trace.model.emplace();
  report_.trace.model->name = ended.model;
  report_.trace.model->finish = ended.finish;
  report_.tokens = ended.tokens;
  const double confidence = sources_.empty() ? 0 : report_.retrieval.gate.confidence;
  end(Answer{.text = std::move(text_),
             .sources = std::move(sources_),
             .citations = {},
             .confidence = confidence,
             .model = std::move(ended.model)});
}

void RelayedTurn::fail(const Error& error) {
  if (has_ended_) return;
  const TraceError failure{TurnStage::kLlm, error};
  report_.trace.errors.push_back(failure);
  if (text_.empty()) {
    has_ended_ = true;
    note_turn_failed(turns_.record_, call_, report_, failure);
    return;
  }
  report_.turn.state = TurnState::kPartial;
  end(Answer{.text = std::move(text_), .sources = std::move(sources_), .citations = {}, .model = {}});
}

void RelayedTurn::refuse(RefusalReason reason, std::string_view text) {
  if (has_ended_) return;
  std::ranges::fill(report_.trace.fates, Fate::kBelowGate);
  sources_.resize(std::min(sources_.size(), kNearestMax));
  end(Refusal{reason, std::string(text), std::move(sources_)});
}

void RelayedTurn::end(Outcome outcome) {
  has_ended_ = true;
  const std::chrono::microseconds now = since_start();
  if (report_.trace.model) report_.trace.stages.push_back({TurnStage::kLlm, asked_, now - asked_});
  if (is_cut_) {
    const std::string words = fmt::format("the answer is over the limit of {} bytes: its end is not stored", kRelayedTextBytesMax);
    report_.trace.errors.push_back({TurnStage::kStore, {ErrorCode::kTooLarge, words, {}}});
  }
  report_.answer_time = now - report_.retrieval_time;
  report_.turn.latency = std::chrono::duration_cast<std::chrono::milliseconds>(now);
  report_.turn.outcome = std::move(outcome);
  note_turn_end(turns_.record_, call_, report_);
  if (turns_.ports_.stored) turns_.store(call_, std::move(report_));
}

RelayedTurns::RelayedTurns(const Ports& ports)
    : ports_(ports),
      metrics_(ports.metrics == nullptr ? nullptr : std::make_unique<TurnMetrics>(*ports.metrics)),
      record_{ports.conversations, metrics_.get(), ports.events} {}

std::unique_ptr<RelayedTurn> RelayedTurns::begin(const CallContext& call, RelayedQuestion question,
                                                 std::chrono::steady_clock::time_point began) {
  return std::unique_ptr<RelayedTurn>(new RelayedTurn(*this, call, std::move(question), began));
}

void RelayedTurns::store(const CallContext& call, TurnReport report) {
  const std::string id = report.turn.id.value;
  const bool waits = lane_.push([this, call = call.detached({}), report = std::move(report)]() mutable {
    cite(report);
    store_turn(record_, call, report);
  });
  if (waits) return;
  if (metrics_ != nullptr) metrics_->count_not_stored();
  log(LogLevel::kError, "answer", "turn not stored: too many turns are waiting", call, {{"turn", id}});
}

}  // namespace footnote::answer
