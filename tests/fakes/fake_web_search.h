#pragma once

#include "base/mutex.h"
#include "fakes/faults.h"
#include "ports/web_search.h"

namespace footnote::fakes {

/// Searches the results that a test put in: best is the one that shares most words with the query, equals in the
/// order in which they came. Thread-safe.
class FakeWebSearch final : public WebSearch {
 public:
  Result<std::vector<WebResult>> search(const CallContext& call, std::string_view query, std::string_view language,
                                        std::size_t limit) override;

  void put(WebResult result);
  Faults& faults() { return faults_; }

 private:
  Faults faults_;
  mutable Mutex mutex_;
  std::vector<WebResult> results_ FOOTNOTE_TSA(guarded_by(mutex_));
};

}  // namespace footnote::fakes
