#pragma once

#include <map>
#include <string>
#include <vector>

#include "ports/web_search.h"

namespace footnote::fakes {

/// Results by query, given before the first search; fails for "fail".
class FakeWebSearch final : public WebSearch {
 public:
  explicit FakeWebSearch(std::map<std::string, std::vector<WebResult>, std::less<>> results) : results_(std::move(results)) {}

  Result<std::vector<WebResult>> search(const CallContext& call, std::string_view query, std::string_view, std::size_t limit) override {
    FOOTNOTE_CHECK(call.check());
    if (query == "fail") return fail(ErrorCode::kUnavailable, "the engine is down");
    const auto found = results_.find(query);
    if (found == results_.end()) return std::vector<WebResult>{};
    std::vector<WebResult> out = found->second;
    if (out.size() > limit) out.resize(limit);
    return out;
  }

 private:
  const std::map<std::string, std::vector<WebResult>, std::less<>> results_;
};

}  // namespace footnote::fakes
