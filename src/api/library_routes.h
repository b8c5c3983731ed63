#pragma once

#include <vector>

#include "api/route.h"
#include "ports/catalog_store.h"
#include "ports/chunk_store.h"
#include "ports/conversation_store.h"

namespace footnote::api {

/// Documents in one answer of GET /api/kb/documents.
inline constexpr std::int64_t kDocumentsPageDefault = 100;
inline constexpr std::int64_t kDocumentsPageMax = 1'000;

/// What these routes need: the store alone, no model. Borrowed.
struct LibraryServices {
  const CatalogStore& catalog;
  const ChunkReader& chunks;
  const ConversationStore& conversations;
};

/// What is stored: corpora, their documents, the text of a document, the trace of a turn. Only admins see documents with labels.
std::vector<Route> make_library_routes(const LibraryServices& services);

}  // namespace footnote::api
