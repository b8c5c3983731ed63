#include "providers/local/query_terms.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "base/utf8.h"
#include "engine/bm25/analyzer.h"

namespace footnote {
namespace {

/// Position of a term in the query: its word, and the part of that word.
using Place = std::pair<std::size_t, std::size_t>;

/// Collects the terms of one query in each language.
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
    // Only English has a list of content words.
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
  // A term shared by two languages is counted as often as the query contains it, not twice.
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

/// Texts between matching double quotes, straight or curly.
std::vector<std::string_view> quoted(std::string_view text) {
  constexpr std::string_view kMarks[][2] = {{"\"", "\""}, {"\u201C", "\u201D"}};
  std::vector<std::string_view> out;
  for (const auto& [open, close] : kMarks) {
    for (std::size_t at = text.find(open); at != std::string_view::npos && out.size() < kPhrasesMax; at = text.find(open, at)) {
      const std::size_t begin = at + open.size();
      const std::size_t end = text.find(close, begin);
      if (end == std::string_view::npos) break;
      out.push_back(text.substr(begin, end - begin));
      at = end + close.size();
    }
  }
  return out;
}

std::vector<bm25::PhraseTerm> phrase_terms(std::string_view text, const std::string& language) {
  std::vector<bm25::PhraseTerm> out;
  std::uint32_t first = 0;
  bm25::Analyzer analyzer(language);
  analyzer.analyze(text, [&](const bm25::Term& term) {
    if (term.whole) return;
    if (out.empty()) first = term.position;
    out.push_back({std::string(term.text), term.position - first});
  });
  return out;
}

bm25::Phrase phrase_of(std::string_view text, std::span<const std::string> languages) {
  bm25::Phrase out;
  for (const std::string& language : languages) {
    auto terms = phrase_terms(text, language);
    if (!terms.empty()) out.push_back(std::move(terms));
  }
  return out;
}

/// The forms of the text's last word; empty if the text does not end with it.
bm25::Alternatives last_word(std::string_view text, std::span<const std::string> languages) {
  const std::size_t begin = text.find_last_of(" \t\r\n");
  const std::string_view word = begin == std::string_view::npos ? text : text.substr(begin + 1);
  bm25::Alternatives out;
  for (const std::string& language : languages) {
    std::string last;
    bm25::Analyzer analyzer(language);
    analyzer.analyze(word, [&](const bm25::Term& term) {
      if (!term.whole) last = term.text;
    });
    if (last.size() >= kPrefixBytesMin && std::ranges::find(out, last) == out.end()) out.push_back(std::move(last));
  }
  return out;
}

/// Adds variants that are not terms yet; they and `original` share one rarity.
void add_variants(QueryTerms& terms, const std::string& original, std::vector<std::string> variants, float weight, std::uint32_t group) {
  float said = 1;
  for (bm25::QueryTerm& term : terms.terms) {
    if (term.text != original) continue;
    term.group = group;
    said = term.weight;
  }
  for (std::string& variant : variants) {
    if (terms.terms.size() >= kQueryTermsMax) return;
    const bool known = std::ranges::any_of(terms.terms, [&](const bm25::QueryTerm& term) { return term.text == variant; });
    if (!known) terms.terms.push_back({.text = std::move(variant), .weight = said * weight, .group = group});
  }
}

std::uint32_t next_group(const QueryTerms& terms) {
  std::uint32_t last = bm25::QueryTerm::kAlone;
  for (const bm25::QueryTerm& term : terms.terms) last = std::max(last, term.group);
  return last + 1;
}

}  // namespace

QueryTerms query_terms(std::string_view text, std::span<const std::string> languages) {
  const std::string_view read = utf8_prefix(text, kQueryBytesMax);
  const std::string english = "en";
  if (languages.empty()) languages = {&english, 1};
  Collector collector;
  for (const std::string& language : languages) collector.add(read, language);
  QueryTerms out = collector.take();
  const bool is_prose = out.words.size() > kPhraseQueryWordsMax;
  for (const std::string_view text_inside : is_prose ? std::vector<std::string_view>{} : quoted(read)) {
    auto phrase = phrase_of(text_inside, languages);
    if (!phrase.empty()) out.phrases.push_back(std::move(phrase));
  }
  out.last_word = last_word(read, languages);
  return out;
}

void expand_last_word(const bm25::Bm25Index& index, QueryTerms& terms) {
  for (const std::string& form : terms.last_word) {
    add_variants(terms, form, index.terms_from(form, kPrefixTermsMax), kPrefixWeight, next_group(terms));
  }
}

void add_synonyms(QueryTerms& terms, const std::string& original, const std::vector<std::string>& synonyms, float weight) {
  const auto known = std::ranges::find(terms.terms, original, &bm25::QueryTerm::text);
  const bool is_grouped = known != terms.terms.end() && known->group != bm25::QueryTerm::kAlone;
  add_variants(terms, original, synonyms, weight, is_grouped ? known->group : next_group(terms));
  for (bm25::Alternatives& word : terms.words) {
    if (std::ranges::find(word, original) == word.end()) continue;
    for (const std::string& synonym : synonyms) {
      if (std::ranges::find(word, synonym) == word.end()) word.push_back(synonym);
    }
  }
}

void expand_misspelled(const bm25::Bm25Index& index, std::int64_t generation, QueryTerms& terms) {
  const std::vector<bm25::QueryTerm> said = terms.terms;
  for (const bm25::QueryTerm& term : said) {
    const std::size_t letters = count_code_points(term.text);
    if (letters < kTypoLettersMin || index.document_frequency(term.text, generation) > 0) continue;
    const std::size_t edits = letters < kTwoTypoLettersMin ? 1 : 2;
    add_variants(terms, term.text, index.terms_near(term.text, edits, kTypoTermsMax), kTypoWeight, next_group(terms));
  }
}

}  // namespace footnote
