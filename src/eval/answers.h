#pragma once

#include <span>
#include <string>
#include <vector>

#include "eval/job.h"
#include "eval/set.h"
#include "eval/system.h"

namespace footnote::eval {

/// Asks every question as a user would, including gate and answer, and the questions of `--foreign` files, which the corpus does not cover.
/// Nothing is stored. Figures: answered (of answerable questions), right_source (a cited document is a labelled one), right_text (the
/// answer contains a labelled text), refused (of questions labelled unanswerable), refused_NAME (of each foreign file).
Result<StageRun> measure_answers(const EvalJob& job, const System& system, std::span<const LabelledQuestion> questions);

}  // namespace footnote::eval
