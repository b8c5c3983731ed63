#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "domain/retrieval.h"

namespace footnote::answer {

/// A page_context whose JSON is longer is dropped whole.
inline constexpr std::size_t kPageContextBytesMax = 8'192;
/// Longer JSON-LD is left out: a whole catalogue drowns the rest.
inline constexpr std::size_t kPageJsonLdBytesMax = 4'000;
inline constexpr std::size_t kPageHeadingsMax = 20;

/// What the widget read off the page that the visitor is on. Plain data, whatever stands in it.
struct PageContext {
  std::string url = {};
  std::string title = {};
  std::string description = {};
  std::vector<std::pair<std::string, std::string>> og = {};  ///< "price:amount" and its value; those of kPageOgKeys are used.
  std::string json_ld = {};
  std::vector<std::string> h1 = {};
  std::vector<std::string> h2 = {};
  std::string visible_text = {};
};
inline constexpr std::string_view kPageOgKeys[] = {"type", "site_name", "price:amount", "price:currency", "availability", "brand"};

/// The page as one text, a paragraph for each part and line that there is; at most kPageContextBytesMax bytes. Empty: nothing was read.
std::string text_of(const PageContext& page);

/// The page as a hit that stands before those of retrieval: no chunk of any corpus. `score` is what it is ordered by.
Hit page_hit(const PageContext& page, std::string_view page_url, double score);

/// Parts of a page's text that a judge reads one by one; at most kPagePartsMax.
inline constexpr std::size_t kPagePartBytes = 1'200;
inline constexpr std::size_t kPagePartsMax = 8;
std::vector<std::string_view> parts_to_judge(std::string_view page_text);

}  // namespace footnote::answer
