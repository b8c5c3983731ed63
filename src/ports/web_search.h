#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/call_context.h"

namespace footnote {

struct WebResult {
  std::string title;
  std::string url;
  std::string snippet;
};

/// Queries a metasearch engine; best first, at most `limit`. Thread-safe. kUnavailable: no response.
class WebSearch {
 public:
  virtual ~WebSearch() = default;
  virtual Result<std::vector<WebResult>> search(const CallContext& call, std::string_view query, std::string_view language,
                                                std::size_t limit) = 0;
};

}  // namespace footnote
