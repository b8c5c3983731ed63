#pragma once

#include "api/calibrate_routes.h"
#include "app/answer_parts.h"

namespace footnote::app {

/// Measures a gate for one corpus. Retrieves for three kinds of questions: made from the corpus's own texts, general ones, and questions
/// from the workspace's other corpora. Half of them set the threshold, the other half measure it. Stores nothing. kFailedPrecondition: the
/// corpus's vectors are not this embedder's, or it has too few texts.
Result<api::Calibrated> calibrate(const CallContext& call, AnswerParts& parts, const Corpus& corpus, double rate,
                                  const api::OnQuestion& on_question);

/// For the background: maps the scores of models that are not built in to the known scale, from a sample of the same questions. Does not
/// change the threshold; the returned rates are those at that threshold. Stores nothing. Errors as above.
Result<GateCalibration> fit_scales(const CallContext& call, AnswerParts& parts, const Corpus& corpus);

}  // namespace footnote::app
