#pragma once

#include "base/json.h"
#include "domain/agent.h"
#include "domain/catalog.h"

namespace footnote::api {

/// Overwrites the fields of `settings` that are present in `value`. Corpora are given by name. kInvalidArgument names the field, also for
/// unknown keys. Does not validate values: see check_agent_settings.
Result<void> read_agent_settings(const Json& value, const std::vector<Corpus>& corpora, AgentSettings& settings);

JsonObject render_agent_settings(const AgentSettings& settings, const std::vector<Corpus>& corpora);
JsonObject render_agent(const Agent& agent, const std::vector<Corpus>& corpora);
JsonObject render_version(const PublishedAgent& version, const std::vector<Corpus>& corpora);

}  // namespace footnote::api
