#pragma once

#include "base/json.h"
#include "domain/agent.h"
#include "domain/catalog.h"

namespace footnote::api {

/// Reads the settings that are there over `settings`; the others stay. Corpora are named. kInvalidArgument names the field, of unknown keys
/// too. What the values may be is not checked here: see check_agent_settings.
Result<void> read_agent_settings(const Json& value, const std::vector<Corpus>& corpora, AgentSettings& settings);

JsonObject render_agent_settings(const AgentSettings& settings, const std::vector<Corpus>& corpora);
JsonObject render_agent(const Agent& agent, const std::vector<Corpus>& corpora);
JsonObject render_version(const PublishedAgent& version, const std::vector<Corpus>& corpora);

}  // namespace footnote::api
