#pragma once

#include <functional>
#include <string>
#include <vector>

#include "api/route.h"
#include "domain/catalog.h"
#include "ports/catalog_store.h"
#include "retrieve/asked_corpora.h"

namespace footnote::api {

/// The share of unrelated questions that may be answered: the default, and the maximum that a caller may request.
inline constexpr double kFalseAnswerRateDefault = 0.05;
inline constexpr double kFalseAnswerRateMax = 0.5;

/// The gate measured for one corpus, and the data it is based on.
struct Calibrated {
  GateCalibration gate;
  std::size_t own = 0;                ///< Number of own questions measured.
  std::size_t foreign = 0;            ///< Number of unrelated questions measured.
  std::vector<std::string> left_out;  ///< Domains that the corpus seems to cover; their questions do not count as unrelated.
};

/// Called after each question. An error ends the calibration.
using OnQuestion = std::function<Result<void>(std::size_t done, std::size_t total)>;

/// Dependencies of these routes. Borrowed.
struct CalibrateServices {
  CatalogStore& catalog;
  const retrieve::AskedCorpora& corpora;
  /// Measures; stores nothing. kFailedPrecondition: the corpus can't be calibrated.
  std::function<Result<Calibrated>(const CallContext&, const Corpus&, double rate, const OnQuestion&)> calibrate;
};

/// POST /api/admin/calibrate {"corpus", "rate"?}: server-sent events, {"done","total"} after each question, then the new gate or {"error"}.
/// GET /api/admin/calibrate?corpus=NAME: where the gate's threshold and scales come from: "shipped" (built-in models), "automatic" (fitted
/// by the server), "calibrated" (by the POST), or "unknown" (a model that is not built in and not fitted yet).
/// DELETE /api/admin/calibrate?corpus=NAME: return to the general threshold.
std::vector<Route> make_calibrate_routes(const CalibrateServices& services);

}  // namespace footnote::api
