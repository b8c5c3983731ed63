#include "providers/local/synonyms.h"

#include <algorithm>

#include "base/text.h"
#include "base/utf8.h"
#include "engine/bm25/analyzer.h"

namespace footnote {
namespace {

/// The single term that a language makes of a word; empty if there is none or several.
std::string term_of(bm25::Analyzer& analyzer, std::string_view word) {
  std::string out;
  std::size_t count = 0;
  analyzer.analyze(word, [&](const bm25::Term& term) {
    if (term.whole) return;
    out = term.text;
    ++count;
  });
  return count == 1 ? out : std::string();
}

Result<std::vector<std::string>> parse_group(std::string_view line, std::size_t number) {
  std::vector<std::string> group;
  for (const std::string_view part : split(line, ',')) {
    const std::string_view word = trim(part);
    if (word.empty()) continue;
    if (word.size() > Synonyms::kWordBytesMax) {
      return fail(ErrorCode::kInvalidArgument, "line {}: a word has {} bytes; the most are {}", number, word.size(),
                  Synonyms::kWordBytesMax);
    }
    if (word.find_first_of(" \t") != std::string_view::npos) {
      return fail(ErrorCode::kInvalidArgument, "line {}: '{}' is more than one word", number, word);
    }
    group.emplace_back(word);
  }
  if (group.size() < 2) return fail(ErrorCode::kInvalidArgument, "line {}: expected two or more words, separated by commas", number);
  if (group.size() > Synonyms::kGroupWordsMax) {
    return fail(ErrorCode::kInvalidArgument, "line {}: {} words; the most are {}", number, group.size(), Synonyms::kGroupWordsMax);
  }
  return group;
}

}  // namespace

Result<Synonyms> Synonyms::parse(std::string_view text) {
  if (text.size() > kFileBytesMax) return fail(ErrorCode::kInvalidArgument, "{} bytes; the most are {}", text.size(), kFileBytesMax);
  if (!is_valid_utf8(text)) return fail(ErrorCode::kInvalidArgument, "it is not valid UTF-8");
  Synonyms out;
  std::string corpus;
  std::size_t number = 0;
  for (const std::string_view raw : split(text, '\n')) {
    ++number;
    const std::string_view line = trim(raw);
    if (line.empty() || line.front() == '#') continue;
    if (line.front() == '[' && line.back() == ']') {
      corpus = trim(line.substr(1, line.size() - 2));
      if (corpus.empty()) return fail(ErrorCode::kInvalidArgument, "line {}: the corpus has no name", number);
      continue;
    }
    FOOTNOTE_TRY(auto group, parse_group(line, number));
    if (out.group_count() == kGroupsMax) return fail(ErrorCode::kInvalidArgument, "line {}: more than {} groups", number, kGroupsMax);
    out.groups_[corpus].push_back(std::move(group));
  }
  return out;
}

std::size_t Synonyms::group_count() const {
  std::size_t count = 0;
  for (const auto& [corpus, groups] : groups_) count += groups.size();
  return count;
}

void Synonyms::add_groups(std::string_view corpus, const std::string& language, Table& out) const {
  const auto found = groups_.find(corpus);
  if (found == groups_.end()) return;
  bm25::Analyzer analyzer(language);
  for (const Group& group : found->second) {
    std::vector<std::string> terms;
    for (const std::string& word : group) {
      std::string term = term_of(analyzer, word);
      if (!term.empty() && std::ranges::find(terms, term) == terms.end()) terms.push_back(std::move(term));
    }
    for (const std::string& term : terms) {
      std::vector<std::string>& others = out[term];
      for (const std::string& other : terms) {
        if (other != term && std::ranges::find(others, other) == others.end()) others.push_back(other);
      }
    }
  }
}

const Synonyms::Table& Synonyms::table(std::string_view corpus, const std::string& language) const {
  // A corpus without its own groups shares the common table.
  const std::string_view name = groups_.contains(corpus) ? corpus : std::string_view();
  const MutexLock lock(mutex_);
  const auto [entry, fresh] = tables_.try_emplace(Key{std::string(name), language});
  if (fresh) {
    add_groups("", language, entry->second);
    if (!name.empty()) add_groups(name, language, entry->second);
  }
  return entry->second;  // never moved or changed again
}

void Synonyms::expand(std::string_view corpus, const std::vector<std::string>& languages, QueryTerms& terms) const {
  if (groups_.empty()) return;
  static const std::vector<std::string> kEnglish{"en"};
  const std::vector<bm25::QueryTerm> said = terms.terms;
  for (const std::string& language : languages.empty() ? kEnglish : languages) {
    const Table& known = table(corpus, language);
    for (const bm25::QueryTerm& term : said) {
      if (const auto found = known.find(term.text); found != known.end()) add_synonyms(terms, term.text, found->second, kSynonymWeight);
    }
  }
}

}  // namespace footnote
