#include <algorithm>
#include <map>

#include "base/text.h"
#include "engine/bm25/bm25_index.h"

namespace footnote::bm25 {
namespace {

struct Found {
  std::size_t distance = 0;
  std::size_t rows = 0;  // Rows that contain it, dead ones included.
};
using FoundTerms = std::map<std::string, Found, std::less<>>;

std::vector<std::string> best_of(const FoundTerms& found, std::size_t limit) {
  std::vector<FoundTerms::const_iterator> order;
  for (auto term = found.begin(); term != found.end(); ++term) order.push_back(term);
  std::ranges::stable_sort(order, [](const auto& a, const auto& b) {
    return std::pair(a->second.distance, b->second.rows) < std::pair(b->second.distance, a->second.rows);
  });
  if (order.size() > limit) order.resize(limit);
  std::vector<std::string> out;
  for (const auto& term : order) out.push_back(term->first);
  return out;
}

}  // namespace

std::vector<std::string> Bm25Index::terms_from(std::string_view prefix, std::size_t limit) const {
  FoundTerms found;
  for (const auto& segment : segments_) {
    const TermTable& terms = segment->terms;
    const std::size_t first = terms.lower_bound(prefix);
    for (std::size_t t = first; t < std::min(terms.size(), first + kTermsLookedAt) && terms[t].starts_with(prefix); ++t) {
      found[std::string(terms[t])].rows += segment->list(t).size();
    }
  }
  return best_of(found, limit);
}

std::vector<std::string> Bm25Index::terms_near(std::string_view term, std::size_t distance, std::size_t limit) const {
  FoundTerms found;
  if (term.empty()) return {};
  for (const auto& segment : segments_) {
    const TermTable& terms = segment->terms;
    for (std::size_t t = terms.lower_bound(term.substr(0, 1)); t < terms.size() && terms[t].front() == term.front(); ++t) {
      const std::string_view other = terms[t];
      if (std::max(other.size(), term.size()) - std::min(other.size(), term.size()) > distance) continue;
      const std::size_t edits = edit_distance(term, other, distance);
      if (edits > distance) continue;
      Found& known = found[std::string(other)];
      known.distance = edits;
      known.rows += segment->list(t).size();
    }
  }
  return best_of(found, limit);
}

}  // namespace footnote::bm25
