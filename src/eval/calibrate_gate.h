#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "domain/profile.h"

namespace footnote::eval {

/// A question with the gate's evidence for it.
struct ProbeEvidence {
  std::string domain;  ///< Topic of the question; ignored for the corpus's own questions.
  double evidence = 0;
};

/// A threshold and its effect on held-out questions.
struct GateSetting {
  double evidence_min = 0;
  double false_answer_rate = 0;
  double answered_rate = 0;
  std::size_t own = 0;                ///< Own probes measured.
  std::size_t foreign = 0;            ///< Foreign probes measured.
  std::vector<std::string> left_out;  ///< Domains that the corpus seems to cover; their questions do not count as foreign.
};

/// The median of one signal of the best passage: over the corpus's own probes, and over foreign ones.
struct SignalMedians {
  double own = 0;
  double foreign = 0;
};
/// Medians of the built-in embedder's cosine and of the built-in judge's log odds, measured on the handbook with the same probes.
inline constexpr SignalMedians kCosineMedians{.own = 0.34, .foreign = 0.174};
inline constexpr SignalMedians kJudgeMedians{.own = -2.8, .foreign = -5.9};

/// The median of `values`; 0 if there are none.
double median_of(std::vector<double> values);

/// Maps a signal of another model to the scale of the built-in one, so that both medians agree. nullopt if its own probes do not score
/// above foreign ones: such a signal is useless.
std::optional<SignalScale> align(const SignalMedians& measured, const SignalMedians& built_in);

/// Each half needs at least this many foreign probes for a meaningful rate.
inline constexpr std::size_t kForeignProbesMin = 20;

/// The lowest threshold that answers at most `rate` of every other foreign probe, measured on the remaining ones. A domain whose median
/// reaches the lowest quartile of the own probes counts as covered and is excluded. kFailedPrecondition: too few probes remain.
Result<GateSetting> set_gate(const std::vector<ProbeEvidence>& own, const std::vector<ProbeEvidence>& foreign, double rate);

/// The rates of all probes at a given threshold; covered domains are excluded as above. kFailedPrecondition: too few own (kOwnProbesMin) or
/// foreign probes.
inline constexpr std::size_t kOwnProbesMin = 10;
Result<GateSetting> measure_gate(const std::vector<ProbeEvidence>& own, const std::vector<ProbeEvidence>& foreign, double threshold);

}  // namespace footnote::eval
