#include "fakes/fake_web_search.h"

#include <functional>
#include <map>

#include "fakes/words.h"

namespace footnote::fakes {

Result<std::vector<WebResult>> FakeWebSearch::search(const CallContext& call, std::string_view query, std::string_view, std::size_t limit) {
  FOOTNOTE_CHECK(call.check());
  FOOTNOTE_CHECK(faults_.next());
  const std::vector<std::string> wanted = content_stems(query);
  std::multimap<double, WebResult, std::greater<>> found;  // equal keys keep the order in which they came
  {
    MutexLock lock(mutex_);
    for (const WebResult& result : results_) {
      const double share = share_of(wanted, content_stems(result.title + " " + result.snippet));
      if (share > 0) found.emplace(share, result);
    }
  }
  std::vector<WebResult> out;
  for (const auto& [share, result] : found) {
    if (out.size() < limit) out.push_back(result);
  }
  return out;
}

void FakeWebSearch::put(WebResult result) {
  MutexLock lock(mutex_);
  results_.push_back(std::move(result));
}

}  // namespace footnote::fakes
