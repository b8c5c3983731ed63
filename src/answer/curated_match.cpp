#include "answer/curated_match.h"

#include <algorithm>

#include "base/fold_words.h"
#include "base/page_url.h"
#include "base/text.h"
#include "base/utf8.h"

namespace footnote::answer {

namespace {

std::size_t count_words(std::string_view folded) { return 1 + static_cast<std::size_t>(std::ranges::count(folded, ' ')); }

/// The start of each word of a folded text, plus one position past its end.
std::vector<std::size_t> word_begins(std::string_view folded) {
  std::vector<std::size_t> out{0};
  for (std::size_t at = folded.find(' '); at != std::string_view::npos; at = folded.find(' ', at + 1)) out.push_back(at + 1);
  out.push_back(folded.size() + 1);
  return out;
}

/// "de" also covers visitors with "de-AT", but not the reverse.
bool is_spoken(std::string_view wanted, std::string_view language) {
  if (!starts_with_ignoring_case(language, wanted)) return false;
  return language.size() == wanted.size() || language[wanted.size()] == '-' || language[wanted.size()] == '_';
}

bool comes_before(const CuratedAnswer& a, const CuratedAnswer& b) {
  return a.priority != b.priority ? a.priority > b.priority : a.id < b.id;
}

/// Whether `a` is preferred over `b`, given the lengths of the phrases that matched.
bool wins(const CuratedAnswer& a, std::size_t a_characters, const CuratedAnswer& b, std::size_t b_characters) {
  if (a.priority != b.priority) return a.priority > b.priority;
  return a_characters != b_characters ? a_characters > b_characters : a.id < b.id;
}

}  // namespace

CuratedMatcher::CuratedMatcher(std::vector<CuratedAnswer> answers) : answers_(std::move(answers)) {
  std::erase_if(answers_, [](const CuratedAnswer& answer) { return !answer.enabled; });
  std::ranges::sort(answers_, comes_before);
  for (std::size_t place = 0; place < answers_.size(); ++place) {
    pages_.push_back(canonical_url(answers_[place].page_url_prefix).value_or(""));
    for (const std::string_view phrase : split(answers_[place].pattern, ',')) {
      const std::string folded = fold_words(phrase);
      if (folded.empty()) continue;
      Phrase& known = phrases_[folded];
      known.characters = count_code_points(folded);
      if (known.answers.empty() || known.answers.back() != place) known.answers.push_back(place);
      word_counts_.push_back(count_words(folded));
    }
  }
  std::ranges::sort(word_counts_);
  word_counts_.erase(std::unique(word_counts_.begin(), word_counts_.end()), word_counts_.end());
}

bool CuratedMatcher::applies(std::size_t answer, const CuratedQuestion& question, std::string_view page) const {
  const std::string& language = answers_[answer].language;
  if (!language.empty() && !is_spoken(language, question.language)) return false;
  if (answers_[answer].page_url_prefix.empty()) return true;
  return !pages_[answer].empty() && is_page_under(page, pages_[answer]);
}

const CuratedAnswer* CuratedMatcher::match(const CuratedQuestion& question) const {
  if (phrases_.empty()) return nullptr;
  const std::string folded = fold_words(question.text);
  if (folded.empty()) return nullptr;
  const std::string page = canonical_url(question.page_url).value_or("");
  const std::vector<std::size_t> begins = word_begins(folded);
  const CuratedAnswer* best = nullptr;
  std::size_t best_characters = 0;
  for (std::size_t first = 0; first + 1 < begins.size(); ++first) {
    for (const std::size_t words : word_counts_) {
      if (first + words >= begins.size()) break;
      const std::size_t end = begins[first + words] - 1;
      const auto found = phrases_.find(std::string_view(folded).substr(begins[first], end - begins[first]));
      if (found == phrases_.end()) continue;
      const Phrase& phrase = found->second;
      const auto place = std::ranges::find_if(phrase.answers, [&](std::size_t answer) { return applies(answer, question, page); });
      if (place == phrase.answers.end()) continue;
      const CuratedAnswer& answer = answers_[*place];
      if (best != nullptr && !wins(answer, phrase.characters, *best, best_characters)) continue;
      best = &answer;
      best_characters = phrase.characters;
    }
  }
  return best;
}

Result<std::shared_ptr<const CuratedMatcher>> CuratedMatchers::of(const CallContext& call, const AgentId& agent) {
  FOOTNOTE_TRY(const std::int64_t revision, agents_.curated_revision(call, agent));
  if (auto known = find(agent, revision)) return known;
  // Read after the revision: if the answers change in between, the next question reads them again, and old ones are never cached as new.
  FOOTNOTE_TRY(auto answers, agents_.curated(call, agent));
  auto matcher = std::make_shared<const CuratedMatcher>(std::move(answers));
  keep(agent, revision, matcher);
  return matcher;
}

std::shared_ptr<const CuratedMatcher> CuratedMatchers::find(const AgentId& agent, std::int64_t revision) {
  MutexLock lock(mutex_);
  const auto found = kept_.find(agent);
  if (found == kept_.end() || found->second.revision != revision) return nullptr;
  found->second.asked = ++asked_;
  return found->second.matcher;
}

void CuratedMatchers::keep(const AgentId& agent, std::int64_t revision, std::shared_ptr<const CuratedMatcher> matcher) {
  MutexLock lock(mutex_);
  kept_[agent] = {revision, std::move(matcher), ++asked_};
  if (kept_.size() <= kAgentsKeptMax) return;
  kept_.erase(std::ranges::min_element(kept_, {}, [](const auto& entry) { return entry.second.asked; }));
}

}  // namespace footnote::answer
