#pragma once

#include <string_view>
#include <vector>

#include "domain/profile.h"
#include "domain/retrieval.h"

namespace footnote::retrieve {

/// A passage's score mapped to 0..1, comparable across questions: the gate's confidence in this passage alone, .5 at the gate's threshold,
/// whichever stages scored it. Boosts are not included.
double calibrated_score(const Hit& hit, const GatePolicy& policy);

/// The same plus the current page's boost, at most 1: the value compared with an agent's threshold.
double boosted_score(const Hit& hit, const GatePolicy& policy);

/// Adds `boost` to the score of each passage of the page, as a separate term; returns whether there was one. REQUIRES: `page_url` is
/// canonical.
bool boost_page(std::vector<Hit>& hits, std::string_view page_url, double boost);

/// Whether the passage is from that page. REQUIRES: `page_url` is canonical.
bool is_on_page(const Hit& hit, std::string_view page_url);

}  // namespace footnote::retrieve
