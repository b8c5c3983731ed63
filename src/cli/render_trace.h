#pragma once

#include <string>

#include "base/json.h"
#include "cli/terminal.h"

namespace footnote::cli {

/// For people: a turn's trace in the form of GET /api/turns/{id}/trace. How it ended and under which names, its
/// stages as bars on one time line, the gate, the model's call, errors, and every candidate with its scores and what
/// became of it.
std::string render_trace(const Json& trace, Paint paint);

}  // namespace footnote::cli
