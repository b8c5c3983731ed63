#pragma once

#include <string>

#include "app/command_line.h"
#include "app/terminal.h"
#include "base/json.h"

namespace footnote::app {

/// For people: the hits of an answer in the form of POST /api/search, best first. With kOn every stage's raw score,
/// weight and contribution, cosine and coverage of each hit, the gate's verdict, what was cut and the times.
std::string render_search(const Json& found, Explain explain, Paint paint);

}  // namespace footnote::app
