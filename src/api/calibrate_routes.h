#pragma once

#include <functional>
#include <string>
#include <vector>

#include "api/route.h"
#include "domain/catalog.h"
#include "ports/catalog_store.h"

namespace footnote::api {

/// Of foreign questions, so many may be answered, unless the caller says otherwise; and the most that may be asked for.
inline constexpr double kFalseAnswerRateDefault = 0.05;
inline constexpr double kFalseAnswerRateMax = 0.5;

/// A gate that was set for one corpus, and what it was measured by.
struct Calibrated {
  GateCalibration gate;
  std::size_t own = 0;                ///< Own questions that were measured,
  std::size_t foreign = 0;            ///< and foreign ones.
  std::vector<std::string> left_out;  ///< Domains that the corpus seems to cover: they do not count as foreign.
};

/// Told after each question. An error ends the calibration.
using OnQuestion = std::function<Result<void>(std::size_t done, std::size_t total)>;

/// What these routes need. Borrowed.
struct CalibrateServices {
  CatalogStore& catalog;
  /// Measures; stores nothing. kFailedPrecondition: the corpus can't be calibrated.
  std::function<Result<Calibrated>(const CallContext&, const Corpus&, double rate, const OnQuestion&)> calibrate;
};

/// POST /api/admin/calibrate {"corpus", "rate"?}: server-sent events, {"done","total"} for each question, at last what was set, or
/// {"error"}. DELETE /api/admin/calibrate?corpus=NAME: back to the general threshold.
std::vector<Route> make_calibrate_routes(const CalibrateServices& services);

}  // namespace footnote::api
