#pragma once

#include "api/calibrate_routes.h"
#include "app/answer_parts.h"

namespace footnote::app {

/// Retrieves for questions made from the corpus's own texts, general questions, and questions from the workspace's other corpora; every
/// other question sets the gate, the rest measure it. Stores nothing. kFailedPrecondition: the corpus's vectors are not this embedder's, or
/// it has too few texts.
Result<api::Calibrated> calibrate(const CallContext& call, AnswerParts& parts, const Corpus& corpus, double rate,
                                  const api::OnQuestion& on_question);

/// For the background: brings the scores of models that are not built in to the known scale, by a sample of the same questions. The
/// threshold stays as it ships; the measured rates are those at that threshold. Stores nothing. Errors as above.
Result<GateCalibration> fit_scales(const CallContext& call, AnswerParts& parts, const Corpus& corpus);

}  // namespace footnote::app
