#pragma once

#include <map>
#include <string_view>

#include "answer/answer_verdict.h"
#include "base/metrics.h"
#include "domain/answer.h"

namespace footnote::answer {

struct TurnReport;

/// Counts turns. Thread-safe. All series exist from the start, so that rates are correct from the first turn. Metrics:
/// footnote_turns_total{outcome}, footnote_refusals_total{reason}, footnote_ttft_seconds, footnote_answer_duration_seconds{stage},
/// footnote_llm_tokens_total{kind}, footnote_turns_not_stored_total, footnote_sentences_checked_total{result},
/// footnote_answers_withdrawn_total{reason}.
class TurnMetrics {
 public:
  explicit TurnMetrics(Metrics& metrics);

  /// Counts a turn that ended, complete or partial.
  void count(const TurnReport& report) const;
  /// Counts a turn that failed before any text.
  void count_failed() const { failed_.add(); }
  void count_not_stored() const { not_stored_.add(); }
  /// Records the duration of one of kAnswerStages.
  void observe(TurnStage stage, double seconds) const;

 private:
  void count_outcome(const Outcome& outcome) const;

  Counter& answers_;
  Counter& refusals_;
  Counter& clarifications_;
  Counter& partial_;
  Counter& failed_;
  Counter& not_stored_;
  Counter& prompt_tokens_;
  Counter& completion_tokens_;
  Histogram& first_text_;
  void count_checks(const TurnReport& report) const;

  std::map<std::string_view, Counter*> checks_;
  std::map<RefusalReason, Counter*> reasons_;
  std::map<NoAnswer, Counter*> withdrawn_;
  std::map<TurnStage, Histogram*> stages_;
};

}  // namespace footnote::answer
