#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"

namespace footnote::eval {

/// A question with the evidence that the gate saw for it.
struct ProbeEvidence {
  std::string domain;  ///< Where it is from; of the corpus's own questions it does not matter.
  double evidence = 0;
};

/// A threshold and what it does to questions that it was not set by.
struct GateSetting {
  double evidence_min = 0;
  double false_answer_rate = 0;
  double answered_rate = 0;
  std::size_t own = 0;                ///< Own probes that were measured,
  std::size_t foreign = 0;            ///< and foreign ones.
  std::vector<std::string> left_out;  ///< Domains that the corpus covers, it seems: their questions are not foreign to it.
};

/// Each half must have so many foreign probes for a rate to mean anything.
inline constexpr std::size_t kForeignProbesMin = 20;

/// The lowest threshold that answers at most `rate` of every other foreign probe; measured on those in between. A domain whose median
/// reaches the lowest quarter of the own probes counts as covered and is left out. kFailedPrecondition: too few probes are left.
Result<GateSetting> set_gate(const std::vector<ProbeEvidence>& own, const std::vector<ProbeEvidence>& foreign, double rate);

}  // namespace footnote::eval
