#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace footnote::crawl {

/// Links of one llms.txt; the rest is ignored.
inline constexpr std::size_t kLlmsLinksMax = 5'000;

struct LlmsLink {
  std::string name;
  std::string url;        ///< As written; may be relative.
  bool optional = false;  ///< Below "## Optional".
};

/// A site's own list of its pages for language models: https://llmstxt.org.
struct LlmsTxt {
  std::string title;
  std::string summary;
  std::vector<LlmsLink> links;
};

/// kUnsupported: no llms.txt (its first line is not a "# " heading), for example a page of HTML.
Result<LlmsTxt> parse_llms_txt(std::string_view text);

}  // namespace footnote::crawl
