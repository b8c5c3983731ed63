#pragma once

#include <string>
#include <string_view>

#include "base/json.h"
#include "cli/terminal.h"

namespace footnote::cli {

/// For people, from the JSON of POST /api/search and GET /api/turns/{id}/trace: what `search --explain` and `trace` both show.

/// One line per passage: rank, each stage's raw score and contribution, cosine, coverage, outcome (if the JSON has it) and place; below
/// them the weights of the stages.
std::string render_score_table(const JsonArray& candidates);

/// The gate's verdict with its figures.
std::string render_gate(const Json& gate, Paint paint);

/// "cut: 148 by fuse (limit), 2 by select (document limit)", or nothing.
std::string render_cuts(const JsonArray& cuts);

/// "time-off/leave.md:12"
std::string render_place(const Json& candidate);
/// "leave.md:12" if `place` has the field `line_field`, "report.pdf, p. 12" if it has "place", else the path.
std::string path_and_place(std::string_view path, const Json& place, std::string_view line_field);

/// How the vectors were searched, on one line; empty if they were not.
std::string render_vector_search(const Json& report);

}  // namespace footnote::cli
