#pragma once

#include <string>

#include "base/json.h"
#include "cli/command_line.h"
#include "cli/terminal.h"

namespace footnote::cli {

/// For people: the hits of a POST /api/search response, best first. With kOn also every stage's raw score, weight and contribution, cosine
/// and coverage of each hit, the gate's verdict, the cuts and the timings.
std::string render_search(const Json& found, Explain explain, Paint paint);

}  // namespace footnote::cli
