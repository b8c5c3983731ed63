#pragma once

#include <string_view>
#include <vector>

#include "domain/profile.h"
#include "domain/retrieval.h"

namespace footnote::retrieve {

/// A passage's score as a probability-like 0..1 that can be compared across questions: the gate's confidence in this one passage, .5
/// where the gate opens, whichever stages spoke of it. Boosts are not in it.
double calibrated_score(const Hit& hit, const GatePolicy& policy);

/// The same with the boost of the current page, at most 1: what an agent's threshold is held against.
double boosted_score(const Hit& hit, const GatePolicy& policy);

/// Adds `boost` to the score of each passage of the page, as a term of its own; true when there was one.
/// REQUIRES: `page_url` is canonical.
bool boost_page(std::vector<Hit>& hits, std::string_view page_url, double boost);

/// Whether the passage is of that page. REQUIRES: `page_url` is canonical.
bool is_on_page(const Hit& hit, std::string_view page_url);

}  // namespace footnote::retrieve
