#pragma once

#include <string>

#include "world.h"

namespace footnote::behaviour {

/// What `ask` prints: the outcome, each citation with the exact characters that support it, the sources. Also checks what holds for every
/// turn: the client received the answer's text, each citation names a given source and is inside it, and the stored turn equals the
/// reported one.
std::string render(const Asked& asked, const World& world);

std::string render(const retrieve::Retrieval& retrieval);
std::string render(const ingest::IngestReport& report);
std::string render(const Turn& turn);

/// The gap that this turn opened or was counted in; empty: none.
std::string render_gap(const Turn& turn, const World& world);

/// The location of a passage: "guide.md > Install > Linux".
std::string place_of(const Hit& hit);

}  // namespace footnote::behaviour
