#pragma once

#include <string>
#include <string_view>

#include "ingest/ingestor.h"
#include "ports/crawler.h"

namespace footnote::crawl {

/// A page of the web as people read it.
struct PageText {
  std::string url;  ///< Where it was found, after redirects.
  std::string title;
  std::string text;
  ingest::MemoryDocument document;  ///< As fetched, ready to be stored under its canonical address.
};

/// Fetches one page that somebody named, and reads it, whatever its format. Errors of the crawler and of formats::read_document;
/// kNotFound: its server answers with 404 or 410. kUnavailable: with another status.
Result<PageText> read_page(const CallContext& call, Crawler& crawler, std::string_view url);

}  // namespace footnote::crawl
