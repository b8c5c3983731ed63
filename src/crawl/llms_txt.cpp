#include "crawl/llms_txt.h"

#include <algorithm>

#include "base/text.h"

namespace footnote::crawl {

namespace {

/// The first "[name](url)" of a line; an empty url if there is none.
LlmsLink read_link(std::string_view line) {
  const std::size_t open = line.find('[');
  const std::size_t middle = open == std::string_view::npos ? open : line.find("](", open);
  const std::size_t close = middle == std::string_view::npos ? middle : line.find(')', middle);
  if (close == std::string_view::npos) return {};
  const std::string_view target = trim(line.substr(middle + 2, close - middle - 2));
  const std::string_view url = target.substr(0, target.find(' '));  // [name](url "title")
  return {fold_spaces(line.substr(open + 1, middle - open - 1)), std::string(url), false};
}

}  // namespace

Result<LlmsTxt> parse_llms_txt(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  LlmsTxt out;
  bool optional = false;
  bool saw_title = false;
  for (const std::string_view raw : split(text, '\n')) {
    const std::string_view line = trim(raw);
    if (line.empty()) continue;
    if (!saw_title) {
      if (!line.starts_with("# ")) return fail(ErrorCode::kUnsupported, "not an llms.txt: it does not begin with a '# ' heading");
      saw_title = true;
      out.title = fold_spaces(line.substr(2));
    } else if (line.starts_with("## ")) {
      optional = to_lower_ascii(fold_spaces(line.substr(3))) == "optional";
    } else if (line.starts_with('>')) {
      out.summary += (out.summary.empty() ? "" : " ") + fold_spaces(line.substr(1));
    } else if (line.starts_with("- ") || line.starts_with("* ") || line.starts_with("+ ")) {
      LlmsLink link = read_link(line);
      link.optional = optional;
      if (!link.url.empty() && out.links.size() < kLlmsLinksMax) out.links.push_back(std::move(link));
    }
  }
  if (!saw_title) return fail(ErrorCode::kUnsupported, "not an llms.txt: it is empty");
  return out;
}

}  // namespace footnote::crawl
