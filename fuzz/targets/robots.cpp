// A robots.txt, and a path that it decides on; the directives of a page.
#include "crawl/robots.h"

#include "target.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace footnote;
  if (size > fuzz::kInputBytesMax) return 0;
  // The first line is the path.
  const std::string_view input = fuzz::as_text(data, size);
  const std::size_t end = std::min(input.find('\n'), input.size());
  const std::string path = "/" + std::string(input.substr(0, end));
  const std::string_view text = input.substr(std::min(end + 1, input.size()));
  const auto rules = crawl::RobotsRules::parse(text, "footnote");
  const auto others = crawl::RobotsRules::parse(text, "another");
  FOOTNOTE_ASSERT(rules.crawl_delay().count() >= 0 && rules.crawl_delay() <= crawl::kCrawlDelayMax);
  FOOTNOTE_ASSERT(rules.sitemaps().size() <= crawl::kRobotsSitemapsMax && rules.sitemaps() == others.sitemaps());
  FOOTNOTE_ASSERT(rules.rule_count() <= text.size());
  FOOTNOTE_ASSERT(rules.allows("/robots.txt"));
  FOOTNOTE_ASSERT(rules.rule_count() > 0 || rules.allows(path));
  (void)rules.allows(path);
  const auto tag = crawl::read_robots_tag(text, "footnote");
  FOOTNOTE_ASSERT((tag.index && tag.follow) || text.find_first_of("nN") != std::string_view::npos);
  return 0;
}
