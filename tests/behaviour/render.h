#pragma once

#include <string>

#include "world.h"

namespace footnote::behaviour {

/// What `ask` prints: the outcome, each citation with the exact characters that support it, the sources.
/// Also checks what holds for every turn: the client heard the answer's text, each citation names a given source and
/// lies inside it, and the turn that is stored is the turn that was told.
std::string render(const Asked& asked, const World& world);

std::string render(const retrieve::Retrieval& retrieval);
std::string render(const ingest::IngestReport& report);
std::string render(const Turn& turn);

/// The gap that this turn opened or counts in; empty: none.
std::string render_gap(const Turn& turn, const World& world);

/// Where a passage stands: "guide.md > Install > Linux".
std::string place_of(const Hit& hit);

}  // namespace footnote::behaviour
