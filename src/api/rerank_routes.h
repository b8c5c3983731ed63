#pragma once

#include <vector>

#include "api/route.h"
#include "ports/reranker.h"

namespace footnote::api {

/// Maximum passages per request, the same as Cohere's.
inline constexpr std::size_t kRerankPassagesMax = 1'000;

/// Dependencies of these routes. Borrowed.
struct RerankServices {
  Reranker* reranker;  ///< Null if none is configured: 503 with a hint how to add one.
};

/// The reranker as a service: Cohere's API (also Jina's and LiteLLM's) at /v1/rerank and /v2/rerank, TEI's at /tei/rerank. Best first;
/// `index` is the passage's position in the request.
std::vector<Route> make_rerank_routes(const RerankServices& services);

}  // namespace footnote::api
