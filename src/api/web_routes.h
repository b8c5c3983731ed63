#pragma once

#include <cstddef>
#include <vector>

#include "answer/page_digest.h"
#include "api/route.h"
#include "ingest/ingestor.h"
#include "ports/catalog_store.h"
#include "ports/crawler.h"
#include "ports/web_search.h"
#include "retrieve/asked_corpora.h"
#include "retrieve/retriever.h"

namespace footnote::api {

/// URLs of one call, and how many are fetched at once.
inline constexpr std::size_t kWebUrlsMax = 20;
inline constexpr std::size_t kWebFetchesAtOnce = 8;
/// Characters of a page in a response; the store gets all of it.
inline constexpr std::size_t kWebTextCharactersMax = 12'000;
inline constexpr std::size_t kWebHtmlCharactersMax = 20'000;
inline constexpr std::int64_t kWebResultsMax = 20;

/// Dependencies of these routes. Everything is borrowed.
struct WebServices {
  Crawler& crawler;
  WebSearch* search;  ///< Null: 503 with a hint.
  const answer::PageDigest& digest;
  Embedder& embedder;
  const retrieve::Retriever& retriever;
  const retrieve::AskedCorpora& corpora;
  CatalogStore& catalog;
  ingest::Ingestor& ingestor;
  ingest::Secrets secrets = ingest::Secrets::kKeepOut;
  std::size_t top_k = 5;  ///< The proxy's: of searches ranked by meaning.
  double lambda = 0.7;    ///< The proxy's.
};

/// The fetch service: pages as text, searches, summaries.
///
/// POST /extract ["https://..."] or {"urls": [...], "store"?}: {"items": [{"url", "ok", "title", "text", "html", "error"?}]}; one bad page
/// fails alone. POST /fetch {"url", "store"?}: {"item"}. GET /search?q=&k=&lang=&rank=: {"query", "lang", "results": [{"title", "url",
/// "snippet"}]}; rank=semantic orders by meaning and picks by MMR. POST /summarize {"urls" or "text", "query"?, "lang"?, "store"?}:
/// {"summary", "sources", "model"}. POST or GET /research {"query", "k"?, "lang"?, "store"?, "corpus"?}: searches the web and the corpus,
/// reads, and sums up. "store" names a corpus that keeps the pages; it needs the scope `ingest`.
std::vector<Route> make_web_routes(const WebServices& services);

}  // namespace footnote::api
