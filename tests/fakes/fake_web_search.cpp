#include "fakes/fake_web_search.h"

#include <algorithm>

#include "fakes/words.h"

namespace footnote::fakes {

Result<std::vector<WebResult>> FakeWebSearch::search(const CallContext& call, std::string_view query, std::string_view, std::size_t limit) {
  FOOTNOTE_CHECK(call.check());
  FOOTNOTE_CHECK(faults_.next());
  const std::vector<std::string> wanted = content_stems(query);
  std::vector<std::pair<double, WebResult>> found;
  {
    MutexLock lock(mutex_);
    for (const WebResult& result : results_) {
      const double share = share_of(wanted, content_stems(result.title + " " + result.snippet));
      if (share > 0) found.emplace_back(share, result);
    }
  }
  std::ranges::stable_sort(found, [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<WebResult> out;
  for (std::size_t i = 0; i < std::min(limit, found.size()); ++i) out.push_back(std::move(found[i].second));
  return out;
}

void FakeWebSearch::put(WebResult result) {
  MutexLock lock(mutex_);
  results_.push_back(std::move(result));
}

}  // namespace footnote::fakes
