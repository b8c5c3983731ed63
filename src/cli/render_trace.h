#pragma once

#include <string>

#include "base/json.h"
#include "cli/terminal.h"

namespace footnote::cli {

/// For people: a turn's trace from GET /api/turns/{id}/trace. Its outcome and ids, its stages as bars on one time line, the gate, the model
/// call, errors, and every candidate with its scores and outcome.
std::string render_trace(const Json& trace, Paint paint);

}  // namespace footnote::cli
