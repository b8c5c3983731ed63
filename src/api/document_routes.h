#pragma once

#include <vector>

#include "api/route.h"
#include "ingest/ingestor.h"
#include "ports/catalog_store.h"
#include "ports/chunk_store.h"

namespace footnote::api {

/// Dependencies of these routes, borrowed.
struct DocumentServices {
  ingest::Ingestor& ingestor;
  CatalogStore& catalog;
  const ChunkReader& chunks;
  ingest::IngestOptions options;  ///< For a version that is restored.
};

/// A document's versions, the original file of each, the return to one of them, and deletion. Only admins see documents with labels.
std::vector<Route> make_document_routes(const DocumentServices& services);

/// The content type under which bytes that came from outside may be shown in a browser: their own for PDF, plain text for text of any kind,
/// else a download.
std::string_view safe_content_type(std::string_view media_type);

}  // namespace footnote::api
