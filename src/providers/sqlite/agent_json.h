#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "domain/agent.h"
#include "domain/conversation.h"

namespace footnote {

/// An agent's settings as stored: JSON text. Members missing in older texts get their defaults.
std::string to_stored_text(const AgentSettings& settings);
/// kCorrupted if the text was not made by to_stored_text().
Result<AgentSettings> agent_settings_from_stored_text(std::string_view text);

/// The parts of a visit without a column of their own: page, flags and figures.
std::string to_stored_text(const Visit& visit);
/// The caller sets agent, visitor and feedback.
Result<Visit> visit_from_stored_text(std::string_view text);

}  // namespace footnote
