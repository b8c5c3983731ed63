#pragma once

#include <map>

#include "base/mutex.h"
#include "fakes/faults.h"
#include "ports/crawler.h"

namespace footnote::fakes {

/// A web of the pages that a test put up. Addresses that a crawler must not touch (other schemes, loopback and
/// private hosts) are refused as the real one refuses them; a page that is not there does not answer. Thread-safe.
class FakeCrawler final : public Crawler {
 public:
  Result<FetchedPage> fetch(const CallContext& call, std::string_view url) override;

  void put_page(std::string_view url, std::string media_type, std::string body);
  /// Fetching `from` ends at `to`.
  void redirect(std::string_view from, std::string_view to);
  Faults& faults() { return faults_; }

  static constexpr int kRedirectsMax = 5;

 private:
  Faults faults_;
  mutable Mutex mutex_;
  std::map<std::string, FetchedPage, std::less<>> pages_ FOOTNOTE_TSA(guarded_by(mutex_));
  std::map<std::string, std::string, std::less<>> redirects_ FOOTNOTE_TSA(guarded_by(mutex_));
};

}  // namespace footnote::fakes
