#include "fakes/words.h"

#include <algorithm>
#include <set>

#include "base/text.h"

namespace footnote::fakes {

namespace {

const std::set<std::string, std::less<>>& function_words() {
  static const std::set<std::string, std::less<>> kWords = {
      "a",    "an",   "and",  "any",  "are",  "as",    "at",    "be",  "been", "by",   "can",   "did",  "do",   "does",
      "for",  "from", "get",  "had",  "has",  "have",  "how",   "i",   "if",   "in",   "is",    "it",   "its",  "many",
      "much", "my",   "of",   "on",   "or",   "our",   "s",     "so",  "that", "the",  "their", "they", "this", "to",
      "was",  "we",   "were", "what", "when", "where", "which", "who", "why",  "will", "with",  "you",  "your"};
  return kWords;
}

bool is_word_byte(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || static_cast<unsigned char>(c) >= 0x80;
}
bool is_space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

std::string stem_of(std::string word) {
  if (word.size() > 4 && word.ends_with("ies")) return word.substr(0, word.size() - 3) + "y";
  if (word.size() > 3 && word.ends_with("s") && !word.ends_with("ss")) word.pop_back();
  return word;
}

void add_sentence(std::string_view text, std::size_t begin, std::size_t end, std::vector<TextRange>& out) {
  while (begin < end && is_space(text[begin])) ++begin;
  while (end > begin && is_space(text[end - 1])) --end;
  if (begin < end && text[begin] != '#') out.push_back({begin, end});
}

}  // namespace

std::vector<Word> words_of(std::string_view text) {
  std::vector<Word> words;
  for (std::size_t at = 0; at < text.size();) {
    if (!is_word_byte(text[at])) {
      ++at;
      continue;
    }
    const std::size_t begin = at;
    while (at < text.size() && is_word_byte(text[at])) ++at;
    const std::string lower = to_lower_ascii(text.substr(begin, at - begin));
    words.push_back({stem_of(lower), {begin, at}, function_words().contains(lower)});
  }
  return words;
}

std::vector<std::string> content_stems(std::string_view text) {
  std::vector<std::string> out;
  for (Word& word : words_of(text)) {
    if (!word.function) out.push_back(std::move(word.stem));
  }
  return out;
}

double share_of(const std::vector<std::string>& wanted, const std::vector<std::string>& found) {
  const std::set<std::string> unique(wanted.begin(), wanted.end());
  if (unique.empty()) return 0;
  const auto count = std::ranges::count_if(unique, [&](const std::string& word) { return std::ranges::find(found, word) != found.end(); });
  return static_cast<double>(count) / static_cast<double>(unique.size());
}

std::vector<TextRange> sentences_of(std::string_view text) {
  std::vector<TextRange> out;
  std::size_t begin = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const bool mark = text[at] == '.' || text[at] == '!' || text[at] == '?';
    const bool last = at + 1 == text.size();
    if (text[at] != '\n' && !(mark && (last || is_space(text[at + 1]))) && !last) continue;
    add_sentence(text, begin, at + 1, out);
    begin = at + 1;
  }
  return out;
}

}  // namespace footnote::fakes
