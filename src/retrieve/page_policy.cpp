#include "retrieve/page_policy.h"

#include <algorithm>

#include "base/page_url.h"

namespace footnote::retrieve {

double boosted_probability(const Hit& hit) {
  const StageScore* boost = hit.term(Stage::kBoost);
  return std::min(1.0, hit.probability + (boost == nullptr ? 0 : boost->contribution()));
}

bool is_on_page(const Hit& hit, std::string_view page_url) {
  return !page_url.empty() && !hit.document.url.empty() && canonical_url(hit.document.url) == page_url;
}

bool boost_page(std::vector<Hit>& hits, std::string_view page_url, double boost) {
  bool any = false;
  for (Hit& hit : hits) {
    if (boost == 0 || !is_on_page(hit, page_url)) continue;
    const StageScore term{Stage::kBoost, 1, 1, boost};
    hit.terms.push_back(term);
    hit.score += term.contribution();
    any = true;
  }
  return any;
}

}  // namespace footnote::retrieve
