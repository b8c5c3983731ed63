#pragma once

#include <string_view>
#include <vector>

#include "domain/retrieval.h"

namespace footnote::retrieve {

/// The passage's probability plus the current page's boost, at most 1: the value compared with an agent's threshold.
double boosted_probability(const Hit& hit);

/// Adds `boost` to the score of each passage of the page, as a separate term; returns whether there was one. REQUIRES: `page_url` is
/// canonical.
bool boost_page(std::vector<Hit>& hits, std::string_view page_url, double boost);

/// Whether the passage is from that page. REQUIRES: `page_url` is canonical.
bool is_on_page(const Hit& hit, std::string_view page_url);

}  // namespace footnote::retrieve
