#pragma once

#include <string>

#include "base/json.h"
#include "cli/command_line.h"
#include "cli/terminal.h"

namespace footnote::cli {

/// For people: the hits of an answer in the form of POST /api/search, best first. With kOn every stage's raw score,
/// weight and contribution, cosine and coverage of each hit, the gate's verdict, what was cut and the times.
std::string render_search(const Json& found, Explain explain, Paint paint);

}  // namespace footnote::cli
