#include "answer/turn_metrics.h"

#include <algorithm>

#include "answer/answer_service.h"

namespace footnote::answer {

namespace {

constexpr RefusalReason kReasons[] = {RefusalReason::kNoRelevantContext, RefusalReason::kLlmSelfRefusal,
                                      RefusalReason::kBlockedByGuardrails, RefusalReason::kLanguageNotCovered};

Counter& turns(Metrics& metrics, std::string_view outcome) {
  return metrics.counter("footnote_turns_total", "Turns by how they ended", {{"outcome", std::string(outcome)}});
}

Counter& tokens(Metrics& metrics, std::string_view kind) {
  return metrics.counter("footnote_llm_tokens_total", "Tokens that the language model counted", {{"kind", std::string(kind)}});
}

double seconds(std::chrono::microseconds time) { return std::chrono::duration<double>(time).count(); }

}  // namespace

TurnMetrics::TurnMetrics(Metrics& metrics)
    : answers_(turns(metrics, "answer")),
      refusals_(turns(metrics, "refusal")),
      clarifications_(turns(metrics, "clarification")),
      partial_(turns(metrics, "partial")),
      failed_(turns(metrics, "failed")),
      not_stored_(metrics.counter("footnote_turns_not_stored_total", "Turns that could not be stored; their answers were given")),
      prompt_tokens_(tokens(metrics, "prompt")),
      completion_tokens_(tokens(metrics, "completion")),
      first_text_(metrics.histogram("footnote_ttft_seconds", "From a turn's start to the first text of its answer")) {
  for (const RefusalReason reason : kReasons) {
    reasons_[reason] = &metrics.counter("footnote_refusals_total", "Refusals by reason", {{"reason", std::string(to_string(reason))}});
  }
  for (const std::string_view result : {"supported", "unsupported", "uncited", "unchecked"}) {
    checks_[result] = &metrics.counter("footnote_sentences_checked_total", "Sentences of a language model by what the citation check said",
                                       {{"result", std::string(result)}});
  }
  for (const NoAnswer reason : kNoAnswers) {
    withdrawn_[reason] = &metrics.counter("footnote_answers_withdrawn_total", "Texts of a language model that were no answer, by reason",
                                          {{"reason", std::string(to_string(reason))}});
  }
  for (const TurnStage stage : kAnswerStages) {
    stages_[stage] = &metrics.histogram("footnote_answer_duration_seconds", "Time of one stage of a turn after retrieval",
                                        {{"stage", std::string(to_string(stage))}});
  }
}

void TurnMetrics::observe(TurnStage stage, double took) const {
  if (const auto found = stages_.find(stage); found != stages_.end()) found->second->observe(took);
}

void TurnMetrics::count_outcome(const Outcome& outcome) const {
  if (const auto* refusal = std::get_if<Refusal>(&outcome)) {
    refusals_.add();
    reasons_.at(refusal->reason)->add();
  } else {
    (std::holds_alternative<Answer>(outcome) ? answers_ : clarifications_).add();
  }
}

void TurnMetrics::count_checks(const TurnReport& report) const {
  if (!report.trace.checks) return;
  const CheckCounts& counts = *report.trace.checks;
  checks_.at("supported")->add(counts.supported);
  checks_.at("unsupported")->add(counts.unsupported);
  checks_.at("uncited")->add(counts.uncited);
  checks_.at("unchecked")->add(counts.unchecked);
}

void TurnMetrics::count(const TurnReport& report) const {
  if (report.turn.state == TurnState::kPartial) {
    partial_.add();
  } else {
    count_outcome(report.turn.outcome);
  }
  count_checks(report);
  if (report.fallback) withdrawn_.at(*report.fallback)->add();
  if (report.trace.first_text) first_text_.observe(seconds(*report.trace.first_text));
  for (const retrieve::StageTiming& stage : report.trace.stages) observe(stage.stage, seconds(stage.took));  // retrieval counts its own
  const TokenCounts tokens = report.tokens.value_or(TokenCounts{});
  prompt_tokens_.add(static_cast<std::uint64_t>(std::max<std::int64_t>(tokens.prompt, 0)));
  completion_tokens_.add(static_cast<std::uint64_t>(std::max<std::int64_t>(tokens.completion, 0)));
}

}  // namespace footnote::answer
