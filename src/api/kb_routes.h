#pragma once

#include <vector>

#include "api/routes.h"

namespace footnote::api {

/// The knowledge-base door: chat as JSON and as a stream, document previews, search, ingest of texts, corpora.
std::vector<Route> make_kb_routes(const Services& services);

}  // namespace footnote::api
