#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace footnote::crawl {

/// Bytes of a robots.txt that are read (RFC 9309, 2.5); the rest is ignored.
inline constexpr std::size_t kRobotsBytesMax = 500u << 10;
/// A longer Crawl-delay is cut to it.
inline constexpr std::chrono::seconds kCrawlDelayMax{30};
/// Sitemaps that a robots.txt may name.
inline constexpr std::size_t kRobotsSitemapsMax = 100;

/// The rules of a robots.txt for one crawler, by RFC 9309.
class RobotsRules {
 public:
  /// Everything is allowed.
  RobotsRules() = default;
  /// The groups of this product token ("footnote"), merged; without one those of "*". Never fails.
  static RobotsRules parse(std::string_view text, std::string_view product);
  /// For a robots.txt that cannot be read at the moment.
  static RobotsRules disallow_all();

  /// The longest matching rule decides, a tie allows. `path` begins with '/' and has the query. /robots.txt is always allowed.
  bool allows(std::string_view path) const;
  std::chrono::milliseconds crawl_delay() const { return crawl_delay_; }
  const std::vector<std::string>& sitemaps() const { return sitemaps_; }
  std::size_t rule_count() const { return rules_.size(); }

 private:
  struct Rule {
    std::string pattern;  ///< Normalised; '*' and a last '$' have their meaning.
    bool allow = false;
  };
  std::vector<Rule> rules_;
  std::chrono::milliseconds crawl_delay_{0};
  std::vector<std::string> sitemaps_;
};

/// X-Robots-Tag or <meta name=robots>: "noindex", "footnote: nofollow", "none". Directives for other crawlers are not ours.
struct RobotsTag {
  bool index = true;
  bool follow = true;
};
RobotsTag read_robots_tag(std::string_view text, std::string_view product);

}  // namespace footnote::crawl
