#include "eval/calibrate_gate.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>

namespace footnote::eval {
namespace {

/// The value below which `share` of the values lie. REQUIRES: values is not empty.
double quantile(std::vector<double> values, double share) {
  std::ranges::sort(values);
  return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
}

/// Splits values alternately: one half sets the threshold, the other measures it.
struct Halves {
  std::vector<double> set;
  std::vector<double> measured;

  void add(double value) { (set.size() <= measured.size() ? set : measured).push_back(value); }
};

double share_from(const std::vector<double>& values, double threshold) {
  const auto count = std::ranges::count_if(values, [&](double value) { return value >= threshold; });
  return values.empty() ? 0 : static_cast<double>(count) / static_cast<double>(values.size());
}

/// Between the last value that may pass and the first that may not.
double threshold_for(std::vector<double> foreign, double rate) {
  std::ranges::sort(foreign, std::greater{});
  const auto allowed = static_cast<std::size_t>(rate * static_cast<double>(foreign.size()));
  const double refused = foreign[std::min(allowed, foreign.size() - 1)];
  if (allowed == 0 || allowed >= foreign.size() || foreign[allowed - 1] == refused) {
    return std::nextafter(refused, std::numeric_limits<double>::infinity());
  }
  return (refused + foreign[allowed - 1]) / 2;
}

}  // namespace

double median_of(std::vector<double> values) { return values.empty() ? 0 : quantile(std::move(values), 0.5); }

std::optional<SignalScale> align(const SignalMedians& measured, const SignalMedians& built_in) {
  const double distance = measured.own - measured.foreign;
  if (!(distance > 0)) return std::nullopt;
  const double slope = (built_in.own - built_in.foreign) / distance;
  return SignalScale{.slope = slope, .offset = built_in.foreign - slope * measured.foreign};
}

Result<GateSetting> set_gate(const std::vector<ProbeEvidence>& own, const std::vector<ProbeEvidence>& foreign, double rate) {
  if (own.size() < 2) return fail(ErrorCode::kFailedPrecondition, "the corpus yields too few questions to calibrate its gate");
  Halves own_halves;
  for (const ProbeEvidence& probe : own) own_halves.add(probe.evidence);
  const double covered_from = quantile(own_halves.set, 0.25);

  std::map<std::string, std::vector<double>> domains;
  for (const ProbeEvidence& probe : foreign) domains[probe.domain].push_back(probe.evidence);
  GateSetting out;
  Halves foreign_halves;
  for (const auto& [domain, values] : domains) {
    if (quantile(values, 0.5) >= covered_from) {
      out.left_out.push_back(domain);
      continue;
    }
    for (const double value : values) foreign_halves.add(value);
  }
  if (foreign_halves.measured.size() < kForeignProbesMin) {
    return fail(ErrorCode::kFailedPrecondition,
                "of {} foreign questions only {} are foreign to this corpus: too few to calibrate its gate; it keeps the general threshold",
                foreign.size(), foreign_halves.set.size() + foreign_halves.measured.size());
  }
  out.evidence_min = threshold_for(foreign_halves.set, rate);
  out.own = own_halves.measured.size();
  out.foreign = foreign_halves.measured.size();
  out.false_answer_rate = share_from(foreign_halves.measured, out.evidence_min);
  out.answered_rate = share_from(own_halves.measured, out.evidence_min);
  return out;
}

}  // namespace footnote::eval
