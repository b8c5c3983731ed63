#pragma once

#include <vector>

#include "api/route.h"
#include "ports/reranker.h"

namespace footnote::api {

/// Passages of one request; as many as Cohere takes.
inline constexpr std::size_t kRerankPassagesMax = 1'000;

/// What these routes need. Borrowed.
struct RerankServices {
  Reranker* reranker;  ///< Null while none is configured: 503 that says how to add one.
};

/// The reranker as a service: Cohere's form (also Jina's and LiteLLM's) at /v1/rerank and /v2/rerank, TEI's at /tei/rerank.
/// Best first; `index` is the passage's place in the request.
std::vector<Route> make_rerank_routes(const RerankServices& services);

}  // namespace footnote::api
