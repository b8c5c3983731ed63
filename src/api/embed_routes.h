#pragma once

#include <string>
#include <vector>

#include "api/route.h"
#include "ports/embedder.h"

namespace footnote::api {

/// Dependencies of these routes. Borrowed.
struct EmbedServices {
  Embedder& embedder;
  std::string version;
};

/// The embedder as a service, in three APIs: /embed with /health and /model, OpenAI's /v1/embeddings, TEI's under /tei. Texts longer than
/// the model's window are truncated. At most kEmbedTextsMax texts per request (413); 429 when too many requests embed at once.
std::vector<Route> make_embed_routes(const EmbedServices& services);

}  // namespace footnote::api
