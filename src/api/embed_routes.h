#pragma once

#include <string>
#include <vector>

#include "api/route.h"
#include "ports/embedder.h"

namespace footnote::api {

/// What these routes need. Borrowed.
struct EmbedServices {
  Embedder& embedder;
  std::string version;
};

/// The embedder as a service, in three forms: /embed with /health and /model, OpenAI's /v1/embeddings, TEI's under /tei.
/// Texts past the model's window are cut. At most kEmbedTextsMax texts a request (413); 429 when too many requests embed at once.
std::vector<Route> make_embed_routes(const EmbedServices& services);

}  // namespace footnote::api
