#pragma once

#include <vector>

#include "api/routes.h"

namespace footnote::api {

/// The knowledge-base API: chat as JSON and as a stream, document previews, search, text ingest, corpora.
std::vector<Route> make_kb_routes(const Services& services);

}  // namespace footnote::api
