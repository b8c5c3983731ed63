#pragma once

#include <memory>

#include "answer/page_digest.h"
#include "api/web_routes.h"
#include "app/answer_parts.h"
#include "providers/web/curl_crawler.h"
#include "providers/web/searxng_search.h"

namespace footnote::app {

/// What reads the web: the crawler, the search server, and the summaries of their pages.
class WebDoor {
 public:
  /// Null if web.enabled is off. Borrows `parts`.
  static Result<std::unique_ptr<WebDoor>> open(const Settings& settings, AnswerParts& parts);

  Crawler& crawler() { return crawler_; }
  api::WebServices services(ingest::Secrets secrets);

 private:
  WebDoor(AddressPolicy policy, const Settings& settings, AnswerParts& parts);

  AnswerParts& parts_;
  CurlCrawler crawler_;
  const std::unique_ptr<http::Client> search_client_;  ///< Null: no search.
  const std::unique_ptr<SearxngSearch> search_;
  const answer::PageDigest digest_;
  const std::size_t top_k_;
  const double lambda_;
};

}  // namespace footnote::app
