#pragma once

#include <vector>

#include "api/route.h"
#include "ports/catalog_store.h"
#include "ports/chunk_store.h"
#include "ports/conversation_store.h"

namespace footnote::api {

/// Documents per page of GET /api/kb/documents.
inline constexpr std::int64_t kDocumentsPageDefault = 100;
inline constexpr std::int64_t kDocumentsPageMax = 1'000;

/// Dependencies of these routes: the store only, no model. Borrowed.
struct LibraryServices {
  const CatalogStore& catalog;
  const ChunkReader& chunks;
  const ConversationStore& conversations;
};

/// Routes that read stored data: corpora, their documents, a document's text, a turn's trace. Only admins see documents with access labels.
std::vector<Route> make_library_routes(const LibraryServices& services);

}  // namespace footnote::api
