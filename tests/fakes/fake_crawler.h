#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "ports/crawler.h"

namespace footnote::fakes {

/// A web of pages in memory. Thread-safe.
class FakeCrawler final : public Crawler {
 public:
  /// Served at this URL from now on; a status of 3xx with a location is a redirect. Replaces what was there.
  void put(const std::string& url, FetchedPage page);
  /// 200 text/html with an ETag that follows from the body.
  void put_html(const std::string& url, const std::string& body);
  void remove(const std::string& url);
  /// Fetching it is refused like a private address.
  void forbid(const std::string& url);
  /// Fetching it fails as if its server were down.
  void break_off(const std::string& url);

  Result<FetchedPage> fetch(const CallContext& call, const PageRequest& request) override;

  /// Every request in order, redirects included.
  std::vector<std::string> requests() const;
  std::size_t body_bytes() const;
  void forget_requests();

 private:
  struct Site {
    FetchedPage page;
    bool forbidden = false;
    bool broken = false;
  };
  mutable Mutex mutex_;
  std::map<std::string, Site> pages_ FOOTNOTE_TSA(guarded_by(mutex_));
  std::vector<std::string> requests_ FOOTNOTE_TSA(guarded_by(mutex_));
  std::size_t body_bytes_ FOOTNOTE_TSA(guarded_by(mutex_)) = 0;
};

}  // namespace footnote::fakes
