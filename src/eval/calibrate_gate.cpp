#include "eval/calibrate_gate.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>

namespace footnote::eval {
namespace {

/// A domain counts as covered if its median reaches the lowest quartile of the corpus's own probes.
constexpr double kCoveredShare = 0.25;

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

namespace {

/// The evidence of domains that the corpus does not cover, and the names of the others.
struct Foreign {
  std::vector<double> evidence;
  std::vector<std::string> left_out;
};

/// A domain whose median reaches `covered_from` counts as covered.
Foreign foreign_to(const std::vector<ProbeEvidence>& probes, double covered_from) {
  std::map<std::string, std::vector<double>> domains;
  for (const ProbeEvidence& probe : probes) domains[probe.domain].push_back(probe.evidence);
  Foreign out;
  for (const auto& [domain, values] : domains) {
    if (quantile(values, 0.5) >= covered_from) {
      out.left_out.push_back(domain);
    } else {
      out.evidence.insert(out.evidence.end(), values.begin(), values.end());
    }
  }
  return out;
}

std::unexpected<Error> too_few_foreign(std::size_t all, std::size_t foreign) {
  return fail(ErrorCode::kFailedPrecondition,
              "of {} foreign questions only {} are foreign to this corpus: too few to calibrate its gate; it keeps the general threshold",
              all, foreign);
}

}  // namespace

Result<GateSetting> set_gate(const std::vector<ProbeEvidence>& own, const std::vector<ProbeEvidence>& foreign, double rate) {
  if (own.size() < 2) return fail(ErrorCode::kFailedPrecondition, "the corpus yields too few questions to calibrate its gate");
  Halves own_halves;
  for (const ProbeEvidence& probe : own) own_halves.add(probe.evidence);
  Foreign others = foreign_to(foreign, quantile(own_halves.set, kCoveredShare));
  Halves foreign_halves;
  for (const double value : others.evidence) foreign_halves.add(value);
  if (foreign_halves.measured.size() < kForeignProbesMin) return too_few_foreign(foreign.size(), others.evidence.size());
  GateSetting out{.evidence_min = threshold_for(foreign_halves.set, rate), .left_out = std::move(others.left_out)};
  out.own = own_halves.measured.size();
  out.foreign = foreign_halves.measured.size();
  out.false_answer_rate = share_from(foreign_halves.measured, out.evidence_min);
  out.answered_rate = share_from(own_halves.measured, out.evidence_min);
  return out;
}

Result<GateSetting> measure_gate(const std::vector<ProbeEvidence>& own, const std::vector<ProbeEvidence>& foreign, double threshold) {
  if (own.size() < kOwnProbesMin) return fail(ErrorCode::kFailedPrecondition, "the corpus yields too few questions to calibrate its gate");
  std::vector<double> values;
  for (const ProbeEvidence& probe : own) values.push_back(probe.evidence);
  Foreign others = foreign_to(foreign, quantile(values, kCoveredShare));
  if (others.evidence.size() < kForeignProbesMin) return too_few_foreign(foreign.size(), others.evidence.size());
  return GateSetting{.evidence_min = threshold,
                     .false_answer_rate = share_from(others.evidence, threshold),
                     .answered_rate = share_from(values, threshold),
                     .own = values.size(),
                     .foreign = others.evidence.size(),
                     .left_out = std::move(others.left_out)};
}

}  // namespace footnote::eval
