#pragma once

#include "api/routes.h"

namespace footnote::api {

/// POST /api/search {"query", "project_key"?, "limit"?, "filters"?, "acl_labels"?, "prefix"?, "typos"?}: hits with their score terms, the
/// gate and the timings.
Result<http::Response> search(const Services& services, const access::Caller& caller, const http::Request& request,
                              const CallContext& call);

/// The same JSON for callers in this process.
Json render_retrieval(const retrieve::Retrieval& retrieval);

}  // namespace footnote::api
