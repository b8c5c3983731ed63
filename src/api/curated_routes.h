#pragma once

#include "api/agent_services.h"

namespace footnote::api {

/// The largest curated-answers file accepted.
inline constexpr std::size_t kCuratedImportBytesMax = 16 << 20;

/// /api/admin/curated: an agent's curated answers, one by one and as CSV.
std::vector<Route> make_curated_routes(const AgentServices& services);

/// Parses CSV whose first line names its columns: pattern and answer, and any of priority, language, page_url_prefix and enabled.
/// kInvalidArgument and kTooLarge name the line.
Result<std::vector<CuratedAnswer>> parse_curated_csv(std::string_view text);

}  // namespace footnote::api
