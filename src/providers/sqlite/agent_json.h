#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "domain/agent.h"
#include "domain/conversation.h"

namespace footnote {

/// An agent's settings as they are stored: one JSON text. What an older text does not have reads as its default.
std::string to_stored_text(const AgentSettings& settings);
/// kCorrupted when the text is not what to_stored_text() gives.
Result<AgentSettings> agent_settings_from_stored_text(std::string_view text);

/// What a visit has beyond the columns of its row: page, flags and figures.
std::string to_stored_text(const Visit& visit);
/// Agent, visitor and feedback are the caller's to fill.
Result<Visit> visit_from_stored_text(std::string_view text);

}  // namespace footnote
