#include "providers/local/query_terms.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "base/utf8.h"
#include "engine/bm25/analyzer.h"

namespace footnote {
namespace {

/// Where a term stands in the query: its word, and which part of that word it is.
using Place = std::pair<std::size_t, std::size_t>;

/// Collects what each language makes of one query.
class Collector {
 public:
  void add(std::string_view text, std::string_view language) {
    std::unordered_map<std::string, float> counts;
    std::vector<std::string> order;
    std::set<Place> content;
    Place last{static_cast<std::size_t>(-1), 0};
    bm25::Analyzer analyzer(language);
    analyzer.analyze(text, [&](const bm25::Term& term) {
      const auto [known, fresh] = counts.try_emplace(std::string(term.text), 0.0F);
      known->second += 1;
      if (fresh) order.push_back(known->first);
      if (term.whole) return;
      last = term.word == last.first ? Place{last.first, last.second + 1} : Place{term.word, 0};
      if (term.function_word) return;
      content.insert(last);
      auto& forms = forms_[last];
      if (std::find(forms.begin(), forms.end(), term.text) == forms.end()) forms.emplace_back(term.text);
    });
    // English knows which of its words are content; the others' rules have no such list.
    if (language == "en") english_content_ = std::move(content), has_english_ = true;
    for (const std::string& term : order) add_term(term, counts.at(term));
  }

  QueryTerms take() {
    std::set<bm25::Alternatives> seen;
    for (auto& [place, forms] : forms_) {
      if (has_english_ && !english_content_.contains(place)) continue;
      if (seen.insert(forms).second) out_.words.push_back(std::move(forms));
    }
    return std::move(out_);
  }

 private:
  // A term that two languages share is still said as often as the query says it.
  void add_term(const std::string& text, float count) {
    const auto [known, fresh] = places_.try_emplace(text, out_.terms.size());
    if (!fresh) {
      out_.terms[known->second].weight = std::max(out_.terms[known->second].weight, count);
    } else if (out_.terms.size() < kQueryTermsMax) {
      out_.terms.push_back({text, count});
    } else {
      places_.erase(known);
    }
  }

  QueryTerms out_;
  std::unordered_map<std::string, std::size_t> places_;
  std::map<Place, bm25::Alternatives> forms_;
  std::set<Place> english_content_;
  bool has_english_ = false;
};

}  // namespace

QueryTerms query_terms(std::string_view text, std::span<const std::string> languages) {
  const std::string_view read = utf8_prefix(text, kQueryBytesMax);
  Collector collector;
  for (const std::string& language : languages) collector.add(read, language);
  if (languages.empty()) collector.add(read, "en");
  return collector.take();
}

}  // namespace footnote
