#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "domain/retrieval.h"

namespace footnote::answer {

/// A page_context with longer JSON is dropped entirely.
inline constexpr std::size_t kPageContextBytesMax = 8'192;
/// Longer JSON-LD is left out: a whole catalogue would crowd out the rest.
inline constexpr std::size_t kPageJsonLdBytesMax = 4'000;
inline constexpr std::size_t kPageHeadingsMax = 20;

/// What the widget read from the visitor's current page. Untrusted data.
struct PageContext {
  std::string url = {};
  std::string title = {};
  std::string description = {};
  std::vector<std::pair<std::string, std::string>> og = {};  ///< "price:amount" and its value; only the keys in kPageOgKeys are used.
  std::string json_ld = {};
  std::vector<std::string> h1 = {};
  std::vector<std::string> h2 = {};
  std::string visible_text = {};
};
inline constexpr std::string_view kPageOgKeys[] = {"title",        "description",    "type",         "site_name",
                                                   "price:amount", "price:currency", "availability", "brand"};

/// The page as one text, one paragraph per part and line; at most kPageContextBytesMax bytes. Empty: nothing was read.
std::string text_of(const PageContext& page);

/// The page as a hit that precedes those of retrieval; it is not a chunk of any corpus. `score` is its sort key.
Hit page_hit(const PageContext& page, std::string_view page_url, double score);

/// The judge reads a page's text in parts of this size; at most kPagePartsMax of them.
inline constexpr std::size_t kPagePartBytes = 1'200;
inline constexpr std::size_t kPagePartsMax = 8;
std::vector<std::string_view> parts_to_judge(std::string_view page_text);

}  // namespace footnote::answer
