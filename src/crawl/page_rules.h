#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "engine/url/web_url.h"

namespace footnote::crawl {

/// Pages found by a crawl with less text are dropped: they hold nothing to cite.
inline constexpr std::size_t kPageTextBytesMin = 200;

/// A page whose status is 200 but which says that it is not there.
class SoftNotFound {
 public:
  /// The text that the site shows for an address that cannot exist; empty: it answers with a proper status.
  void learn(std::string_view text_of_missing_page);
  /// By a short page whose title or first line says "not found", or by nearly the words of the learned page.
  bool matches(std::string_view title, std::string_view text) const;

 private:
  std::set<std::string> missing_words_;
};

/// Keeps a crawl out of addresses without end: calendars, filters, links that grow.
class TrapGuard {
 public:
  static constexpr std::size_t kPathPartsMax = 24;
  /// How often one part of a path may occur in it.
  static constexpr std::size_t kSamePartMax = 3;
  /// Addresses that differ only in the values of their parameters.
  static constexpr std::size_t kQueryVariantsMax = 500;
  /// From so many pages of one pattern on, it is judged by what it brought; less than this share of new pages is a trap.
  static constexpr std::size_t kPatternPagesMin = 30;
  static constexpr double kNewShareMin = 0.2;

  /// Whether to fetch it. Counts it if so.
  bool admit(const WebUrl& url);
  /// What became of an admitted page: new text, or nothing (a duplicate, too short, not found).
  void note(const WebUrl& url, bool is_new);

 private:
  struct Pattern {
    std::size_t pages = 0;
    std::size_t fresh = 0;
  };
  std::map<std::string, std::size_t> query_variants_;
  std::map<std::string, Pattern> patterns_;  ///< By the path with its numbers as '#'.
};

/// Whether the path ends like a file that is never a page ("/a.zip", "/b.JPG"): not worth a request.
bool is_media_path(std::string_view path);

}  // namespace footnote::crawl
