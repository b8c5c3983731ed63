#include "answer/turn_record.h"

#include "base/log.h"

namespace footnote::answer {

namespace {

constexpr std::chrono::seconds kStoreTimeout{10};

std::string_view name_of(const Turn& turn) {
  if (turn.state == TurnState::kPartial) return "partial";
  if (std::holds_alternative<Answer>(turn.outcome)) return "answer";
  return std::holds_alternative<Refusal>(turn.outcome) ? "refusal" : "clarification";
}

}  // namespace

void note_turn_end(const TurnRecordPorts& ports, const CallContext& call, const TurnReport& report) {
  const auto* refusal = std::get_if<Refusal>(&report.turn.outcome);
  log(LogLevel::kDebug, "answer", "turn", call,
      {{"turn", report.turn.id.value},
       {"outcome", name_of(report.turn)},
       {"refusal_reason", refusal == nullptr ? "" : to_string(refusal->reason)},
       {"generation", report.turn.generation},
       {"candidates", report.retrieval.candidates},
       {"evidence", report.retrieval.gate.evidence},
       {"retrieval_ms", static_cast<double>(report.retrieval_time.count()) / 1000},
       {"answer_ms", static_cast<double>(report.answer_time.count()) / 1000}});
  if (ports.metrics != nullptr) ports.metrics->count(report);
}

void note_turn_failed(const TurnRecordPorts& ports, const CallContext& call, const TurnReport& report, const TraceError& error) {
  if (ports.metrics != nullptr) ports.metrics->count_failed();
  log(LogLevel::kDebug, "answer", "turn failed", call,
      {{"turn", report.turn.id.value}, {"stage", to_string(error.stage)}, {"code", to_string(error.error.code)}});
}

void store_turn(const TurnRecordPorts& ports, const CallContext& call, const TurnReport& report) {
  const CallContext own = call.detached(kStoreTimeout);
  const auto began = std::chrono::steady_clock::now();
  const TokenCounts tokens = report.tokens.value_or(TokenCounts{});
  const auto stored = ports.conversations.finish_turn(own, report.turn, tokens.prompt, tokens.completion, render_turn_trace(report));
  if (ports.metrics != nullptr) {
    ports.metrics->observe(TurnStage::kStore, std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count());
  }
  if (stored) {
    const bool is_tried = report.turn.visit && report.turn.visit->playground;
    if (ports.events != nullptr && !is_tried) ports.events->turn_completed({report.turn});
    return;
  }
  if (ports.metrics != nullptr) ports.metrics->count_not_stored();
  log(LogLevel::kError, "answer", "turn not stored", own,
      {{"turn", report.turn.id.value}, {"code", to_string(stored.error().code)}, {"error", stored.error().message}});
}

}  // namespace footnote::answer
